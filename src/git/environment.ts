// What a git process sees of its surroundings: nothing of the caller's but PATH, and the same settings everywhere.

const settings: [string, string][] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsync', 'committed,reference'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Memory: threads times window, plus caches; blobs above the threshold are streamed and never searched for deltas.
  ['pack.threads', '2'],
  ['pack.windowMemory', '64m'],
  ['pack.deltaCacheSize', '32m'],
  ['core.packedGitLimit', '256m'],
  ['core.deltaBaseCacheLimit', '32m'],
  ['core.bigFileThreshold', '32m'],
  // A second writer of the same ref waits for the first instead of failing after 100 ms.
  ['core.filesRefLockTimeout', '5000'],
  ['core.packedRefsTimeout', '5000']
]

/** The variable that tells which process started a git process. */
export const STARTED_BY = 'GITSTEAD_STARTED_BY'

/** The whole environment of one git process. `repository` becomes GIT_DIR, `extra` comes from this folder alone. */
export function gitEnvironment(repository?: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    [STARTED_BY]: String(process.pid),
    ...configuration,
    ...(repository === undefined ? {} : { GIT_DIR: repository }),
    ...extra
  }
}

const configuration = Object.fromEntries([
  ['GIT_CONFIG_COUNT', String(settings.length)],
  ...settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value]
  ])
]) as Record<string, string>
