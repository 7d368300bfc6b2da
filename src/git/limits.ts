// The limits of every git process on memory and processor time. A few hundred bytes of hostile objects can make git ask for
// gigabytes, so the limit that holds is that of the system, not a guess from the size of what came in.
import { readFileSync } from 'node:fs'
import { config } from '../config.js'

/** `helper`: a long-lived process that answers small questions. `diff`: one that compares commits. `work`: any other. */
export type GitKind = 'helper' | 'diff' | 'work'

/**
 * The share of the memory that a process of each kind gets. A helper reads objects of at most 1 MiB. To compare texts of 31
 * MiB with a million lines, just below core.bigFileThreshold, took 200 MiB.
 */
const SHARES: Record<GitKind, number> = { helper: 1 / 4, diff: 1 / 2, work: 1 }

/** Returns the bytes of memory that one process may have. */
export const memoryLimit = (kind: GitKind): number => Math.ceil(config().git.memory_limit * SHARES[kind])

// The limit is on private memory (RLIMIT_DATA), so that git may map packs of any size, whose pages the system takes back
// when it needs them. Every child of git inherits it. The shell becomes git: that takes 0.4 ms, and prlimit(1) takes 0.9.
// Processor time has no hard limit: beyond one, a process would be killed without a signal that tells why. An administrator
// may have set lower limits already; then the shell cannot raise them, and those hold.
const SCRIPT = 'ulimit -S -d "$1" 2>/dev/null; ulimit -S -t "$2" 2>/dev/null; shift 2; exec git "$@"'

/** Returns the program and arguments that run git with these arguments within the limits. */
export function limited(args: readonly string[], kind: GitKind): [string, string[]] {
  const kibibytes = Math.ceil(memoryLimit(kind) / 1024)
  return ['/bin/sh', ['-c', SCRIPT, 'git', String(kibibytes), String(config().git.processor_limit), ...args]]
}

const MEMORY = /out of memory|memory exhausted|cannot allocate memory|unable to create (?:\w+ )?thread/i
const PROCESSOR = /died of signal 24\b/
/** Signals by which git ends when objects are nested so deeply that its stack is too small. */
const STACK = /died of signal (?:6|7|11)\b/
const STACK_SIGNALS: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT']

/** Returns which limit ended a process, in words for the user, or undefined when no limit did. */
export function limitReached(signal: NodeJS.Signals | null, stderr: string, kind: GitKind): string | undefined {
  const mebibytes = Math.round(memoryLimit(kind) / 1_048_576)
  if (MEMORY.test(stderr)) return `git needs more than ${mebibytes} MiB of memory for it (git.memory_limit)`
  if (signal === 'SIGXCPU' || PROCESSOR.test(stderr)) {
    return `git needs more than ${config().git.processor_limit} s of processor time for it (git.processor_limit)`
  }
  if (STACK_SIGNALS.includes(signal) || STACK.test(stderr)) return 'its objects are nested too deeply for git'
  return undefined
}

/** Returns the processor seconds that a process has used so far; 0 when it is gone. */
export function processorSeconds(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // User and system time, in hundredths: Linux shows this unit to programs on every machine.
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
