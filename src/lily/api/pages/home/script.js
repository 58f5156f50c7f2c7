"use strict";

const EVERY_MS = 5000;
const state = document.getElementById("state");
const detail = document.getElementById("detail");
const lag = document.getElementById("lag");

for (const origin of document.querySelectorAll("[data-origin]")) origin.textContent = location.origin;

// Links of notifications lead here.
const LINK = /^#\/(incidents|assets)\/([0-9a-f-]{36})$/;

function showLinked() {
  const [, kind, id] = LINK.exec(location.hash) || [];
  document.getElementById("linked").hidden = !id;
  if (!id) return;
  document.getElementById("linked-title").textContent = `The ${kind === "incidents" ? "incident" : "asset"} ${id}`;
  const read = `curl -H "Authorization: Bearer $TOKEN" ${location.origin}`;
  document.getElementById("linked-command").textContent =
    kind === "incidents" ? `lily incidents show ${id}\n${read}/incidents/${id}` : `${read}/metadata/${id}`;
}

showLinked();
addEventListener("hashchange", showLinked);

// The text changes only when it differs: a screen reader announces every change of a status.
function show(kind, title, text) {
  state.dataset.state = kind;
  if (state.textContent !== title) state.textContent = title;
  detail.textContent = text;
}

function showLag(topics) {
  lag.hidden = false;
  lag.tBodies[0].replaceChildren(...Object.entries(topics).map(([topic, events]) => {
    const row = document.createElement("tr");
    const name = row.appendChild(document.createElement("td"));
    const number = row.appendChild(document.createElement("td"));
    name.textContent = topic;
    number.textContent = events.toLocaleString("en");
    number.className = "number";
    return row;
  }));
}

async function check() {
  try {
    const response = await fetch("/health/ready", { cache: "no-store" });
    const body = await response.json();
    const now = new Date().toLocaleTimeString();
    if (response.ok) {
      const waiting = Object.values(body.lag).reduce((sum, events) => sum + events, 0);
      show("ready", "Ready", waiting
        ? `The database and the log are reachable; ${waiting.toLocaleString("en")} events wait to be applied. Checked at ${now}.`
        : `The database and the log are reachable, and everything accepted can be read. Checked at ${now}.`);
      showLag(body.lag);
    } else {
      lag.hidden = true;
      const causes = (body.errors || []).map((error) => `${error.entity}: ${error.description}`);
      show("failed", "Not ready", `${causes.join(" ")} Checked at ${now}.`);
    }
  } catch {
    lag.hidden = true;
    show("failed", "No response", "The API does not respond. Run: lily status");
  }
  setTimeout(check, document.hidden ? EVERY_MS * 12 : EVERY_MS);
}

check();
