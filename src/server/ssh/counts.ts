// The counts of git over SSH for Prometheus.

/** Connections of this server that are open now, and what it has done since its start. */
export const sshCounts = {
  connections: 0,
  /** Connections that were refused or cut because of a limit. */
  refused: 0,
  /** Keys that were refused. */
  wrongKeys: 0,
  /** Commands that have ended well, and others. */
  done: 0,
  failed: 0
}
