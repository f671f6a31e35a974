/** Everything the page of one session shows, read anew at every change. */

import { get } from "./api.js";
import { underWay } from "./parts/install.js";
import { Pages } from "./parts/pages.js";

const PRACTISED = "autonomous_agent_practice";

/** Which Temporal executions stand behind a session; their addresses never change, so each is asked for once. */
class Links {
  #known = new Map();

  async of(workflowId, signal) {
    if (!this.#known.has(workflowId)) {
      try {
        this.#known.set(workflowId, (await get(`workflows/${workflowId}`, { signal })).temporal_ui_url);
      } catch {
        // Temporal may be away, or keep this execution no longer: the page is whole without the link.
        return null;
      }
    }
    return this.#known.get(workflowId);
  }
}

/** The id of a session's workflow. */
export const sessionWorkflow = ({ learn_session_id: id }) => `learn-session/${id}`;

export class SessionData {
  #links = new Links();
  #files = { hash: null, files: [], dependencies: [], graph: null };

  constructor(id, page) {
    this.path = `learn/sessions/${encodeURIComponent(id)}`;
    this.id = id;
    this.signal = page.signal;
    this.pages = { observations: new Pages(page, "actions", 100), receipts: new Pages(page, "receipts") };
  }

  async read() {
    const options = { signal: this.signal };
    // First alone: where there is no such session, one refusal says it all.
    const session = await get(`${this.path}/detail`, options);
    const [scope, observed, receipts] = await Promise.all([
      get(`${this.path}/observation-scope`, options),
      this.pages.observations.read(`${this.path}/observations`),
      this.pages.receipts.read(`learn/receipts?learn_session_id=${encodeURIComponent(this.id)}`),
    ]);
    const [draft, practice] = await Promise.all([
      session.proposal_id ? this.#draft(session.proposal_id, options) : NO_DRAFT,
      session.entry_mode === PRACTISED ? this.#practice(options) : null,
    ]);
    return { session, scope, observed, receipts, practice, ...draft, links: await this.#workflows(session, draft) };
  }

  async #draft(proposalId, options) {
    const path = `learn/proposals/${proposalId}`;
    const [detail, { runs, steps }] = await Promise.all([
      get(`${path}/detail`, options),
      get(`${path}/validation-runs?page_size=1`, options),
    ]);
    const [saga, { rounds }, { checkpoints }] = await Promise.all([
      detail.saga_id ? get(`learn/install-sagas/${detail.saga_id}`, options) : null,
      detail.proposal.revision > 1 ? get(`${path}/rounds`, options) : NO_ROUNDS,
      get(`${this.path}/checkpoint-progress`, options),
      this.#readFiles(path, detail.proposal.content_hash, options),
    ]);
    return { detail, checkpoints, run: runs[0] ?? null, steps, saga, rounds: rounds.filter((one) => !one.present), files: this.#files.files, dependencies: this.#files.dependencies, graph: this.#files.graph, installing: underWay(saga) };
  }

  async #readFiles(path, hash, options) {
    if (this.#files.hash === hash) return;
    const { files, depends_on: dependencies, workflow_graph: graph } = await get(`${path}/files`, options);
    this.#files = { hash, files, dependencies, graph };
  }

  async #practice(options) {
    try {
      return await get(`${this.path}/practice`, options);
    } catch (error) {
      // Set up, but nothing was practised in it yet.
      if (error.status === 404) return null;
      throw error;
    }
  }

  async #workflows(session, { run, saga }) {
    const named = [
      ["Session", sessionWorkflow(session)],
      run && ["Validation", `validation-run/${run.validation_run_id}`],
      saga && ["Install", saga.workflow_id],
    ].filter(Boolean);
    const found = await Promise.all(named.map(async ([name, id]) => [name, await this.#links.of(id, this.signal)]));
    return found.filter(([, address]) => address);
  }
}

const NO_ROUNDS = { rounds: [] };
const NO_DRAFT = { detail: null, checkpoints: [], run: null, steps: [], saga: null, rounds: [], files: [], dependencies: [], graph: null, installing: false };
