// The environment of every git process: nothing of the caller's environment except PATH, and the same settings everywhere.

const SETTINGS: [string, string][] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsync', 'committed,reference'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // `git push -o` (src/git/transport/receive.ts reads the options).
  ['receive.advertisePushOptions', 'true'],
  // Memory limits: threads times window, plus caches. Git streams blobs above the threshold and never searches deltas for them.
  ['pack.threads', '2'],
  ['pack.windowMemory', '64m'],
  ['pack.deltaCacheSize', '32m'],
  ['core.packedGitLimit', '256m'],
  ['core.deltaBaseCacheLimit', '32m'],
  ['core.bigFileThreshold', '32m'],
  // A second writer of the same ref waits for the first one; git's default is to fail after 100 ms.
  ['core.filesRefLockTimeout', '5000'],
  ['core.packedRefsTimeout', '5000']
]

/** Faults of objects that are too frequent in old histories to be refused. */
export const IGNORED_FAULTS: readonly string[] = ['badTimezone', 'missingSpaceBeforeDate', 'zeroPaddedFilemode']

/** The environment variable with the id of the process that started a git process. */
export const STARTED_BY = 'GITSTEAD_STARTED_BY'

/** Returns the whole environment of one git process. `repository` becomes GIT_DIR. Only code in this folder may pass `extra`. */
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
    ...CONFIGURATION,
    ...(repository === undefined ? {} : { GIT_DIR: repository }),
    ...extra
  }
}

/** Returns the variables for the settings of every process and `more`. Other users can read arguments, but not variables. */
export const settingsWith = (more: readonly (readonly [key: string, value: string])[]): Record<string, string> => {
  const all = [...SETTINGS, ...more]
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(all.length)],
    ...all.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value]
    ])
  ]) as Record<string, string>
}

const CONFIGURATION = settingsWith([])
