/** Progress of a run: a line that is told, a bar, and the list of steps. */

import { byId, made } from "./dom.js";
import { STEPS } from "./run.js";
import { duration } from "./words.js";

const MARKS = { todo: "", now: "›", done: "✓", failed: "!" } as const;
const SPOKEN = { todo: "", now: "now: ", done: "done: ", failed: "failed: " } as const;

/** State of a step. */
export type StepState = keyof typeof MARKS;

/** View of the progress. */
export class ProgressView {
  readonly #status = byId("status", HTMLElement);
  readonly #bar = byId("bar", HTMLProgressElement);
  readonly #steps = byId("steps", HTMLElement);

  /** Shows all steps as not done. */
  reset(): void {
    this.#bar.max = STEPS.length;
    this.#bar.value = 0;
    this.#steps.replaceChildren(...STEPS.map((step) => this.#line(step, "todo", "")));
    this.say("");
  }

  /** Says a line to everybody. */
  say(text: string): void {
    this.#status.textContent = text;
  }

  /** Shows the state of a step. */
  step(at: number, state: StepState, note: string, time?: number): void {
    const step = STEPS[at] ?? "";
    this.#steps.children[at]?.replaceWith(this.#line(step, state, [note, time === undefined ? "" : duration(time)].filter((part) => part !== "").join(", ")));
    if (state === "done") this.#bar.value = at + 1;
    if (state === "now") this.say(`Step ${at + 1} of ${STEPS.length}: ${step}${note === "" ? "" : `, ${note}`}`);
  }

  #line(step: string, state: StepState, note: string): HTMLElement {
    const mark = made("span", { "aria-hidden": "true" }, MARKS[state]);
    const spoken = made("span", { class: "spoken" }, SPOKEN[state]);
    return made("li", { class: state }, mark, made("span", {}, spoken, step), made("span", { class: "state" }, note));
  }
}
