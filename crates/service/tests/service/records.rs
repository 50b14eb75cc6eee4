//! The state of a server: leases, turns of jobs, and bytes that are named and removed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use sunzi_service::records::{
    AccountId, Allowance, End, ObjectName, Place as Kind, Records, Request, Submitted,
};
use sunzi_service::store::add_account;
use sunzi_service::{BlobId, JobId, Name};
use tempfile::TempDir;

use crate::common::{Place, over_both, private_folder};
use crate::elsewhere::Postgres;

const LEASE: Duration = Duration::from_secs(3);
const ALLOWED: Allowance = Allowance { bytes: 1 << 20, unfinished: 100, jobs: 100 };

fn blob(number: u8) -> BlobId {
    BlobId::from_hash(&[number; 32])
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// State with an account that has a program, keys and a table.
fn filled(place: &Place, data: &TempDir) -> (Arc<dyn Records>, AccountId) {
    let records = place.records(data.path());
    let token = add_account(&*records, &name("ada")).unwrap().unwrap();
    records.beat(LEASE).unwrap();
    let account = records.token(token.id()).unwrap().unwrap().0;
    for (number, (kind, file)) in
        [(Kind::Programs, None), (Kind::Keys, Some(name("f.sz"))), (Kind::Tables, None)]
            .into_iter()
            .enumerate()
    {
        let object = ObjectName { place: kind, name: name("x"), file };
        let hold = records.hold(&blob(number as u8)).unwrap().unwrap();
        assert_eq!(records.put(account, &object, &hold, 5000, &ALLOWED).unwrap(), Some(Vec::new()));
    }
    (records, account)
}

fn submit(records: &dyn Records, account: AccountId, number: u8) -> JobId {
    let request = Request {
        program: name("x"),
        keys: name("x"),
        tables: vec![name("x")],
        precision: Some(20),
        request: None,
    };
    let id = JobId::from_bytes([number; 16]);
    let submitted = records.submit(account, &id, &request, &ALLOWED).unwrap();
    assert!(matches!(submitted, Submitted::Queued(_)), "{submitted:?}");
    id
}

fn bytes_are_named_or_removed_and_never_both(place: &Place) {
    let data = private_folder();
    let (records, account) = filled(place, &data);
    // Named bytes are not removed, nor are those that somebody is about to name.
    assert!((0..3).all(|number| records.begin_removal(&blob(number)).unwrap().is_none()));
    let hold = records.hold(&blob(9)).unwrap().unwrap();
    let other = records.hold(&blob(9)).unwrap().unwrap();
    assert!(records.begin_removal(&blob(9)).unwrap().is_none());
    records.release(&hold).unwrap();
    assert!(records.begin_removal(&blob(9)).unwrap().is_none());
    records.release(&other).unwrap();
    // Bytes that are being removed are not named.
    let removal = records.begin_removal(&blob(9)).unwrap().unwrap();
    assert!(records.hold(&blob(9)).unwrap().is_none());
    assert!(records.begin_removal(&blob(9)).unwrap().is_none());
    records.release(&removal).unwrap();
    // Who lost a hold names nothing by it, and what was there stays.
    let object = ObjectName { place: Kind::Tables, name: name("x"), file: None };
    assert!(records.put(account, &object, &hold, 1, &ALLOWED).is_err());
    assert_eq!(records.objects(account, Kind::Tables).unwrap()[0].sha256, blob(2).as_str());
    // A quota that is full changes nothing, and the hold stays until it is released.
    let hold = records.hold(&blob(9)).unwrap().unwrap();
    assert_eq!(records.put(account, &object, &hold, 2 << 20, &ALLOWED).unwrap(), None);
    assert!(records.begin_removal(&blob(9)).unwrap().is_none());
    records.release(&hold).unwrap();
    let hold = records.hold(&blob(9)).unwrap().unwrap();
    assert_eq!(records.put(account, &object, &hold, 1, &ALLOWED).unwrap(), Some(vec![blob(2)]));
    assert!(records.begin_removal(&blob(2)).unwrap().is_some());
}

fn jobs_are_ended_once_by_who_runs_them(place: &Place) {
    let data = private_folder();
    let (records, account) = filled(place, &data);
    let id = submit(&*records, account, 1);
    let claimed = records.claim().unwrap().unwrap();
    assert_eq!((&claimed.id, claimed.account, claimed.precision), (&id, account, Some(20)));
    let inputs: BTreeSet<(String, BlobId)> = claimed.inputs.into_iter().collect();
    let expected = [("program", 0), ("keys/f.sz", 1), ("tables/x", 2)];
    assert_eq!(inputs, expected.map(|(path, number)| (path.to_owned(), blob(number))).into());
    assert!(records.claim().unwrap().is_none());
    assert_eq!(records.beat(LEASE).unwrap().running, std::slice::from_ref(&id));
    records.requeue(&id).unwrap();
    assert_eq!(records.beat(LEASE).unwrap().running, []);
    records.claim().unwrap().unwrap();
    let hold = records.hold(&blob(7)).unwrap().unwrap();
    let freed: BTreeSet<_> =
        records.finish(&id, &End::Done(hold.clone(), 5)).unwrap().unwrap().into_iter().collect();
    assert_eq!(freed, (0..3).map(blob).collect());
    // The answer may have been lost: asked again, nothing changes.
    let hold = records.hold(&blob(7)).unwrap().unwrap();
    assert_eq!(records.finish(&id, &End::Done(hold.clone(), 5)).unwrap(), None);
    records.release(&hold).unwrap();
    assert_eq!(records.finish(&id, &End::Failed("late".to_owned())).unwrap(), None);
    let job = records.job(account, &id).unwrap().unwrap();
    assert_eq!((job.sha256, job.error), (Some(blob(7)), None));
    assert!(records.begin_removal(&blob(7)).unwrap().is_none());
    assert_eq!(records.remove_job(account, &id).unwrap(), Some(vec![blob(7)]));
    assert!(records.begin_removal(&blob(7)).unwrap().is_some());
}

fn jobs_of_who_is_gone_are_taken_by_others(place: &Place) {
    let data = private_folder();
    let (records, account) = filled(place, &data);
    let (id, second) = (submit(&*records, account, 1), submit(&*records, account, 2));
    assert_eq!(records.claim().unwrap().unwrap().id, id);
    let hold = records.hold(&blob(7)).unwrap().unwrap();
    let other = place.records(data.path());
    if place.urls.is_some() {
        // As long as the lease holds, others leave its jobs alone.
        records.beat(LEASE).unwrap();
        assert_eq!(other.beat(LEASE).unwrap().again, 0);
        assert_eq!(other.claim().unwrap().unwrap().id, second);
        other.requeue(&second).unwrap();
        let begin = std::time::Instant::now();
        while other.beat(LEASE).unwrap().again == 0 {
            assert!(begin.elapsed() < Duration::from_secs(30), "the lease never ends");
            sleep(Duration::from_millis(100));
        }
        // What it held is gone, and it ends nothing any more.
        assert!(records.finish(&id, &End::Done(hold, 5)).unwrap().is_none());
        assert!(other.begin_removal(&blob(7)).unwrap().is_some());
    } else {
        assert_eq!(other.beat(LEASE).unwrap().again, 1);
    }
    assert_eq!(other.claim().unwrap().unwrap().id, id);
    // Who lost a job neither ends it nor puts it back while another one runs it.
    assert_eq!(records.finish(&id, &End::Failed("late".to_owned())).unwrap(), None);
    records.requeue(&id).unwrap();
    assert_eq!(other.beat(LEASE).unwrap().running, std::slice::from_ref(&id));
    // Who leaves puts its jobs back at once.
    other.leave().unwrap();
    let third = place.records(data.path());
    third.beat(LEASE).unwrap();
    assert_eq!(third.claim().unwrap().unwrap().id, id);
}

fn each_job_is_claimed_once(place: &Place) {
    let data = private_folder();
    let (records, account) = filled(place, &data);
    let ids: BTreeSet<String> =
        (0..40).map(|number| submit(&*records, account, number).as_str().to_owned()).collect();
    let claims: Vec<_> = (0..4)
        .map(|_| {
            let records =
                if place.urls.is_some() { place.records(data.path()) } else { Arc::clone(&records) };
            records.beat(Duration::from_secs(60)).unwrap();
            std::thread::spawn(move || {
                let claims = std::iter::from_fn(|| records.claim().unwrap());
                claims.map(|job| job.id.as_str().to_owned()).collect::<Vec<_>>()
            })
        })
        .collect();
    let claimed: Vec<String> = claims.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!((claimed.len(), claimed.into_iter().collect()), (40, ids));
}

over_both!(
    bytes_are_named_or_removed_and_never_both,
    jobs_are_ended_once_by_who_runs_them,
    jobs_of_who_is_gone_are_taken_by_others,
    each_job_is_claimed_once,
);

#[test]
fn state_of_a_later_release_is_refused() {
    let data = private_folder();
    Place::folder().records(data.path());
    let change = |text: &str| {
        let connection = rusqlite::Connection::open(data.path().join("state.sqlite")).unwrap();
        connection.execute_batch(text).unwrap();
    };
    change("PRAGMA user_version = 99");
    let refused = || sunzi_service::store::open_records(data.path()).unwrap_err().to_string();
    assert!(refused().contains("has version 99, expected 2"), "{}", refused());
    let (Some(postgres), Some(place)) = (Postgres::get(), Place::shared()) else { return };
    let [url, _] = place.urls.as_ref().unwrap();
    place.records(data.path());
    assert!(postgres.run(url.rsplit('/').next().unwrap(), "UPDATE sunzi.version SET version = 99"));
    let shared = place.addresses().unwrap();
    let refused = sunzi_service::shared::open_records(&shared.database).unwrap_err().to_string();
    assert!(refused.contains("has version 99, expected 1"), "{refused}");
}

#[test]
fn state_of_the_first_release_is_taken_over() {
    let data = private_folder();
    drop(Place::folder().records(data.path()));
    let connection = rusqlite::Connection::open(data.path().join("state.sqlite")).unwrap();
    connection.execute_batch("ALTER TABLE jobs DROP COLUMN owner; PRAGMA user_version = 1").unwrap();
    drop(connection);
    let (records, account) = filled(&Place::folder(), &data);
    submit(&*records, account, 1);
    assert!(records.claim().unwrap().is_some());
}
