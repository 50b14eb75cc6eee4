//! Programs in text, and their plans.

use std::rc::Rc;

use serde::Deserialize;
use sunzi_program::analysis::{Options, SchemeChoice};
use sunzi_program::{Plan, Program};
use sunzi_rlwe::Security;
use wasm_bindgen::prelude::*;

use crate::error::Failure;
use crate::schema::TableSchema;

/// Largest number of bytes of a plan in JSON that is read.
const LONGEST_JSON: usize = 1 << 26;

/// Choices of a plan, in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Choices {
    scheme: Option<SchemeChoice>,
    precision: u32,
    log2_degree: Option<u32>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { scheme: None, precision: 16, log2_degree: None }
    }
}

/// Program in text over the columns of a schema.
#[wasm_bindgen(js_name = TableProgram)]
pub struct TableProgram {
    program: Program,
}

#[wasm_bindgen(js_class = TableProgram)]
impl TableProgram {
    /// Parses a program.
    ///
    /// # Errors
    /// `Syntax` and other errors of programs, which name the line.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, schema: &TableSchema) -> Result<Self, JsValue> {
        let read = |_: &str| Err("programs with files are for the command line and Python".to_owned());
        let program = Program::parse_with(text, &schema.schema, &read).map_err(Failure::from)?;
        Ok(Self { program })
    }

    /// Names of the results.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn outputs(&self) -> Vec<String> {
        self.program.outputs().iter().map(|output| output.name.clone()).collect()
    }

    /// Returns the program in JSON with its schema, as a server takes it.
    ///
    /// # Errors
    /// `Schema` for a program that JSON cannot hold.
    #[wasm_bindgen(js_name = toJson)]
    pub fn to_json(&self) -> Result<String, JsValue> {
        Ok(serde_json::to_string(&self.program).map_err(Failure::from)?)
    }

    /// Chooses scheme, parameters and keys, at 128 bits of security.
    ///
    /// # Errors
    /// Errors of programs that no parameters hold.
    pub fn plan(&self, choices: &str) -> Result<TablePlan, JsValue> {
        Ok(planned(&self.program, choices)?)
    }
}

fn planned(program: &Program, choices: &str) -> Result<TablePlan, Failure> {
    let Choices { scheme, precision, log2_degree } = serde_json::from_str(choices)?;
    let options =
        Options { scheme, precision, log2_degree, security: Security::default(), ..Options::default() };
    Ok(TablePlan { plan: Rc::new(Plan::new(program, &options)?) })
}

/// Plan of a program: scheme, parameters and layout.
#[wasm_bindgen(js_name = TablePlan)]
pub struct TablePlan {
    pub(crate) plan: Rc<Plan>,
}

#[wasm_bindgen(js_class = TablePlan)]
impl TablePlan {
    /// Reads a plan in JSON, and analyses it again.
    ///
    /// # Errors
    /// `Parse` for JSON that is no plan.
    #[wasm_bindgen(js_name = fromJson)]
    pub fn from_json(json: &str) -> Result<Self, JsValue> {
        Ok(read(json)?)
    }

    /// Returns the plan in JSON, without times.
    ///
    /// # Errors
    /// `Parse` for a plan that JSON cannot hold.
    #[wasm_bindgen(js_name = toJson)]
    pub fn to_json(&self) -> Result<String, JsValue> {
        Ok(serde_json::to_string(&*self.plan).map_err(Failure::from)?)
    }

    /// Name of the scheme.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn scheme(&self) -> String {
        self.plan.parameters.name().to_owned()
    }

    /// Degree of the ring.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn degree(&self) -> usize {
        self.plan.parameters.degree()
    }

    /// Bits of security of the parameters.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn security(&self) -> u32 {
        self.plan.parameters.security().bits()
    }

    /// Bytes of the evaluation keys.
    #[wasm_bindgen(getter, js_name = keyBytes)]
    #[must_use]
    pub fn key_bytes(&self) -> f64 {
        self.plan.key_bytes as f64
    }

    /// Bytes of the encrypted table.
    #[wasm_bindgen(getter, js_name = tableBytes)]
    #[must_use]
    pub fn table_bytes(&self) -> f64 {
        self.plan.table_bytes() as f64
    }

    /// Reasons for the choices of the plan, in words.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        self.plan.reasons.clone()
    }
}

fn read(json: &str) -> Result<TablePlan, Failure> {
    if json.len() > LONGEST_JSON {
        return Err(Failure::new("Parse", "a plan of more than 64 MiB: plans take less"));
    }
    let plan = serde_json::from_str::<Plan>(json);
    let plan = plan
        .map_err(|error| Failure::new("Parse", format!("no plan as sunzi plan --json writes it: {error}")))?;
    Ok(TablePlan { plan: Rc::new(plan) })
}
