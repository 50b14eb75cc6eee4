//! Tests of what a folder may hold: letters of others, damaged, replayed and foreign ones.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use sunzi_parties::driver::Transport;
use sunzi_parties::driver::folder::{FolderLink, FolderOptions};
use sunzi_parties::{Contacts, PartiesError};

use crate::places::{Place, World, identity, next, refusal};

const CHANNEL: [u8; 32] = [1; 32];
const OTHER: [u8; 32] = [2; 32];
const MOST: u64 = 1000;
/// Length of what stands before the content of a letter.
const HEAD: usize = 160;

struct Folder {
    world: World,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn folder() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    Folder { world: World::new(Place::Folder(path.clone())), path, _folder: folder }
}

impl Folder {
    fn link(&self, at: usize) -> FolderLink {
        self.world.folder_link(at, &CHANNEL, MOST)
    }

    fn names(&self) -> Vec<String> {
        let names = self.path.read_dir().unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the one letter of the folder.
    fn only(&self) -> (PathBuf, Vec<u8>) {
        let names = self.names();
        assert_eq!(names.len(), 1, "{names:?}");
        let path = self.path.join(&names[0]);
        (path.clone(), fs::read(path).unwrap())
    }
}

/// Nothing comes, and nothing is refused.
fn quiet(link: &mut FolderLink) {
    assert!(link.receive(Duration::from_millis(100)).unwrap().is_none());
    assert!(link.refusals().is_empty());
}

#[test]
fn messages_come_once_from_whom_they_are_and_files_are_written_once() {
    let folder = folder();
    let [mut ada, mut bo, mut cy] = [0, 1, 2].map(|at| folder.link(at));
    let (two, me) = (folder.world.contacts.roster().party(2).unwrap(), 1);
    ada.send(b"to all").unwrap();
    ada.send(b"to all").unwrap();
    ada.send_to(two, b"to Bo").unwrap();
    ada.send_to(two, b"to Bo").unwrap();
    assert_eq!(folder.names().len(), 2);
    let mut got = vec![next(&mut bo), next(&mut bo)];
    got.sort();
    assert_eq!(got, [(me, b"to Bo".to_vec()), (me, b"to all".to_vec())]);
    assert_eq!(next(&mut cy), (me, b"to all".to_vec()));
    [&mut ada, &mut bo, &mut cy].into_iter().for_each(quiet);
    // Whoever begins again finds all, and writes nothing again.
    let before: Vec<_> =
        folder.names().iter().map(|name| fs::read(folder.path.join(name)).unwrap()).collect();
    let [mut ada, mut bo] = [0, 1].map(|at| folder.link(at));
    ada.send_to(two, b"to Bo").unwrap();
    ada.send(b"to all").unwrap();
    let after: Vec<_> = folder.names().iter().map(|name| fs::read(folder.path.join(name)).unwrap()).collect();
    assert_eq!(before, after);
    next(&mut bo);
    next(&mut bo);
    quiet(&mut bo);
    let itself = ada.send_to(folder.world.contacts.roster().party(1).unwrap(), b"to me");
    assert!(matches!(itself, Err(PartiesError::Setting { .. })));
}

/// A secret letter tells others neither what it says nor, by its name, what it might say.
#[test]
fn a_third_party_cannot_read_a_secret_message() {
    let folder = folder();
    let two = folder.world.contacts.roster().party(2).unwrap();
    let secret = b"a secret of forty bytes, all of them....";
    folder.link(0).send_to(two, secret).unwrap();
    let (path, bytes) = folder.only();
    assert!(!bytes.windows(8).any(|window| window == &secret[..8]));
    quiet(&mut folder.link(2));
    // Even if it is named as one for Cy: signed it is for Bo.
    let name = path.file_name().unwrap().to_str().unwrap().replace("-1-2-", "-1-3-");
    fs::write(folder.path.join(&name), &bytes).unwrap();
    quiet(&mut folder.link(2));
    // With the number of the recipient changed in it, the signature is wrong.
    let mut other = bytes.clone();
    other[8 + 32 + 32 + 8] = 3;
    fs::write(folder.path.join(&name), &other).unwrap();
    let text = refusal(&mut folder.link(2));
    assert!(text.contains("not that of Ada"), "{text}");
    assert_eq!(next(&mut folder.link(1)), (1, secret.to_vec()));
}

#[test]
fn damaged_letters_are_refused_by_name_and_read_once_they_are_whole() {
    let folder = folder();
    folder.link(0).send(b"a message").unwrap();
    let (path, bytes) = folder.only();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    for at in (0..bytes.len()).step_by(6) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        fs::write(&path, &other).unwrap();
        let mut bo = folder.link(1);
        let text = refusal(&mut bo);
        assert!(text.starts_with(&format!("file {name}: ")), "byte {at}: {text}");
    }
    for cut in [0, HEAD - 1, HEAD, bytes.len() - 1] {
        let mut bo = folder.link(1);
        fs::write(&path, &bytes[..cut]).unwrap();
        let text = refusal(&mut bo);
        assert!(text.contains(if cut < HEAD { "expected a letter" } else { "ends in the middle" }), "{text}");
        // What was on its way comes when all of it is there.
        thread::sleep(Duration::from_millis(20));
        fs::write(&path, &bytes).unwrap();
        assert_eq!(next(&mut bo), (1, b"a message".to_vec()));
        quiet(&mut bo);
    }
    // Whoever wrote it mends it by sending again.
    fs::write(&path, b"garbage").unwrap();
    folder.link(0).send(b"a message").unwrap();
    assert_eq!(folder.only().1, bytes);
}

#[test]
fn letters_of_others_of_other_channels_and_with_other_cards_are_refused() {
    let folder = folder();
    folder.link(0).send(b"from Ada").unwrap();
    let (path, bytes) = folder.only();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    // Signed by Cy, named as one of Ada.
    fs::remove_file(&path).unwrap();
    folder.link(2).send(b"from Cy").unwrap();
    let (forged, mut by_cy) = folder.only();
    fs::remove_file(forged).unwrap();
    fs::write(&path, &by_cy).unwrap();
    let text = refusal(&mut folder.link(1));
    assert!(text.contains("the name that follows from the content"), "{text}");
    by_cy[8 + 32 + 32] = 1;
    fs::write(&path, &by_cy).unwrap();
    let text = refusal(&mut folder.link(1));
    assert!(text.contains("the signature is not that of Ada"), "{text}");
    // The same letter under another name counts once.
    fs::write(&path, &bytes).unwrap();
    fs::write(folder.path.join(name.replace("-1-all-", "-3-all-")), &bytes).unwrap();
    let mut bo = folder.link(1);
    let first = bo.receive(Duration::from_secs(5)).unwrap();
    assert_eq!(first.unwrap().1.to_vec(), b"from Ada");
    assert!(bo.receive(Duration::from_millis(100)).unwrap().is_none());
    assert_eq!(bo.refusals().len(), 1);
    fs::remove_file(folder.path.join(name.replace("-1-all-", "-3-all-"))).unwrap();
    fs::remove_file(&path).unwrap();
    // A letter of another channel is left alone, and refused where it is named as one of this.
    folder.world.folder_link(0, &OTHER, MOST).send(b"from Ada").unwrap();
    quiet(&mut folder.link(1));
    let (replayed, bytes) = folder.only();
    fs::remove_file(replayed).unwrap();
    fs::write(&path, &bytes).unwrap();
    let text = refusal(&mut folder.link(1));
    assert!(text.contains("it belongs to channel 02020202"), "{text}");
    // Somebody who has another card of Cy.
    fs::remove_file(&path).unwrap();
    let cards =
        [identity("Ada", 1), identity("Bo", 2), identity("Cy", 4)].map(|party| party.card(None).unwrap());
    let others = Contacts::new(cards).unwrap();
    let options = FolderOptions::new(MOST);
    let link = FolderLink::open(&folder.path, &identity("Ada", 1), &others, &CHANNEL, options);
    link.unwrap().send(b"from Ada").unwrap();
    let text = refusal(&mut folder.link(1));
    assert!(text.contains("other cards"), "{text}");
}

#[test]
fn files_of_others_are_left_alone_and_long_ones_are_not_read() {
    let folder = folder();
    folder.link(0).send(b"a message").unwrap();
    let (path, bytes) = folder.only();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    for other in
        ["notes.txt", ".sunzi-123.part", "a.szl", "0101-1-all-00.szl", &name.replace(".szl", " (copy).szl")]
    {
        fs::write(folder.path.join(other), &bytes).unwrap();
    }
    fs::create_dir(folder.path.join("folder")).unwrap();
    fs::create_dir(folder.path.join(name.replace("-1-all-", "-3-all-"))).unwrap();
    let mut bo = folder.link(1);
    assert_eq!(next(&mut bo), (1, b"a message".to_vec()));
    let text = refusal(&mut bo);
    assert!(text.contains("a folder"), "{text}");
    // A file that is longer than all messages is named, and not read.
    let long = fs::File::create(&path).unwrap();
    long.set_len(1 << 40).unwrap();
    let text = refusal(&mut folder.link(2));
    assert!(text.contains("1099511627776 bytes"), "{text}");
    // A message that others would not take is not sent.
    let refused = folder.link(0).send(&vec![0; MOST as usize + 1]);
    assert!(refused.err().unwrap().to_string().contains("at most 1000 bytes"));
    let gone = FolderLink::open(
        folder.path.join("nowhere"),
        &identity("Ada", 1),
        &folder.world.contacts,
        &CHANNEL,
        FolderOptions::new(MOST),
    );
    assert!(matches!(gone.err(), Some(PartiesError::Channel(_))));
}
