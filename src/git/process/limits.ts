// The limits of every git process on memory and processor time. A few hundred bytes of hostile objects can make git
// allocate gigabytes, so the operating system enforces the limit, instead of an estimate from the size of the input.
import { config } from '../../config.js'
import { MACHINE_MEMORY } from '../../lib/machine-memory.js'

/** `helper`: a long-lived process that answers small questions. `work`: any other. */
export type GitKind = 'helper' | 'work'

/**
 * The share of `git.memory_limit` that a process of each kind gets. A helper reads objects of at most 1 MiB. Comparing
 * texts of 31 MiB with a million lines, just below core.bigFileThreshold, took 200 MiB.
 */
const SHARES: Record<GitKind, number> = { helper: 1 / 2, work: 1 }

/** Returns the bytes of memory that one process may have. */
const memoryLimit = (kind: GitKind): number => Math.ceil(config().git.memory_limit * SHARES[kind])

/**
 * The families of processes that may run at the same time: their share of `git.memory`, and the number of processes for
 * each operation. Processes for a client have a child of the same size. The shares are separate, so that clones never
 * take the memory of reads.
 */
const FAMILIES = {
  long: { share: 7 / 16, kind: 'work', processes: 2 },
  short: { share: 1 / 8, kind: 'work', processes: 1 },
  readers: { share: 3 / 16, kind: 'helper', processes: 1 },
  stats: { share: 1 / 16, kind: 'work', processes: 1 },
  patches: { share: 1 / 16, kind: 'work', processes: 1 },
  paths: { share: 1 / 16, kind: 'helper', processes: 1 },
  refs: { share: 1 / 16, kind: 'helper', processes: 1 }
} as const satisfies Record<string, { share: number; kind: GitKind; processes: number }>

/** The memory in bytes for all git processes of this process together. */
const sharedMemory = (): number => config().git.memory || MACHINE_MEMORY / 2

/**
 * Returns how many processes of a family may run at once, at most `most`. The limits of all running processes together
 * stay within `git.memory`. One of each family may always run.
 */
export function mostAtOnce(family: keyof typeof FAMILIES, most: number): number {
  const { share, kind, processes } = FAMILIES[family]
  return Math.max(1, Math.min(most, Math.floor((sharedMemory() * share) / (memoryLimit(kind) * processes))))
}

// The limit is on private memory (RLIMIT_DATA), so that git may map packs of any size; the system reclaims their pages
// when it needs them. Every child of git inherits the limit. The shell becomes git, which takes 0.4 ms; prlimit(1)
// takes 0.9. Processor time has no hard limit: beyond a hard limit, a process would be killed without a signal that
// shows the reason. If an administrator has set lower limits, the shell cannot raise them, and the lower limits apply.
const SCRIPT = 'ulimit -S -d "$1" 2>/dev/null; ulimit -S -t "$2" 2>/dev/null; shift 2; exec git "$@"'

/** Returns the program and arguments that run git with these arguments within the limits. */
export function limited(
  args: readonly string[],
  kind: GitKind,
  processor = config().git.processor_limit
): [string, string[]] {
  const kibibytes = Math.ceil(memoryLimit(kind) / 1024)
  return ['/bin/sh', ['-c', SCRIPT, 'git', String(kibibytes), String(processor), ...args]]
}

/** The seconds of processor time for a push of any size. */
const PUSH_SECONDS = 60
/** The additional seconds for each MiB. A pack of 80,000 commits took a quarter of a second per MiB. */
const PUSH_SECONDS_PER_MIB = 6

/** Returns the limit of processor time for a push with this many bytes, in seconds. A small pack must not keep git busy for long. */
export const pushProcessorLimit = (bytes: number): number =>
  Math.min(Math.ceil(PUSH_SECONDS + (bytes / 1_048_576) * PUSH_SECONDS_PER_MIB), config().git.processor_limit)

const MEMORY = /out of memory|memory exhausted|cannot allocate memory|unable to create (?:\w+ )?thread/i
const PROCESSOR = /died of signal 24\b/
/** Signals that end git when objects are nested so deeply that its stack is too small. */
const STACK = /died of signal (?:6|7|11)\b/
const STACK_SIGNALS: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT']

/** Returns whether the limit of processor time ended a process or one of its children. */
export const isOutOfTime = (signal: NodeJS.Signals | null, stderr: string): boolean =>
  signal === 'SIGXCPU' || PROCESSOR.test(stderr)

/** Returns which limit ended a process, as a text for the user, or undefined when no limit did. */
export function limitReached(
  signal: NodeJS.Signals | null,
  stderr: string,
  kind: GitKind,
  processor = config().git.processor_limit
): string | undefined {
  const mebibytes = Math.round(memoryLimit(kind) / 1_048_576)
  if (MEMORY.test(stderr)) return `git needs more than ${mebibytes} MiB of memory (git.memory_limit)`
  if (isOutOfTime(signal, stderr)) {
    const setting = processor === config().git.processor_limit ? ' (git.processor_limit)' : ''
    return `git needs more than ${processor} s of processor time${setting}`
  }
  if (STACK_SIGNALS.includes(signal) || STACK.test(stderr)) return 'its objects are nested too deeply for git'
  return undefined
}
