// The capabilities that a client of git states with a push.

const PLAIN =
  /^(?:report-status|report-status-v2|side-band-64k|quiet|atomic|ofs-delta|delete-refs|push-options|object-format=sha1|agent=.*|session-id=.*)$/

/** Returns whether a push expects a report, and nothing that only git knows. */
export const isPlainPush = (capabilities: readonly string[]): boolean =>
  capabilities.some(name => name.startsWith('report-status')) && capabilities.every(name => PLAIN.test(name))
