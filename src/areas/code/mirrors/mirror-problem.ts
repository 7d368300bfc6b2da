// The named reasons for which a run of a mirror ends. Programs compare the codes; people read the texts.
import { Failure, TooLarge } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { RefusedTarget } from '../../../webhooks/target.js'
import { ImportTooLarge } from '../../projects/imports/egress-proxy.js'
import { TooManyObjects } from '../../projects/imports/lfs/pointers.js'
import { SourceFailure } from '../../projects/imports/source-failures.js'

export const PROBLEMS = [
  /** The mirror cannot run until a person changes something here. */
  'account_deleted',
  'account_blocked',
  'account_not_allowed',
  'project_archived',
  'host_key_unconfirmed',
  'host_key_changed',
  /** The other server. */
  'address_refused',
  'unreachable',
  'timeout',
  'login_refused',
  'not_found',
  'too_large',
  'too_many_objects',
  'too_many_refs',
  'git_failed',
  /** The other server does not give or take the files of LFS that new commits name. */
  'lfs_failed',
  /** This appliance. */
  'disk_full',
  'internal'
] as const
export type ProblemCode = (typeof PROBLEMS)[number]

/** Until a person changes something, other attempts end in the same way: these are no failures of the remote. */
const STOPS: ReadonlySet<ProblemCode> = new Set([
  ...(['account_deleted', 'account_blocked', 'account_not_allowed', 'project_archived'] as const),
  ...(['host_key_unconfirmed'] as const)
])

export class MirrorProblem extends Failure {
  constructor(
    readonly code: ProblemCode,
    text: string
  ) {
    super(text)
  }

  /** Whether the mirror stops, instead of trying again soon. */
  get stops(): boolean {
    return STOPS.has(this.code)
  }
}

interface Facts {
  /** What the gateway refused; undefined when it did not. */
  readonly problem: Error | undefined
  /** The limit of time in seconds, when it is over. */
  readonly overdue: number | null
  /** Texts that must not appear in the reason. */
  readonly secrets: readonly string[]
}

/** Returns the reason for an error of a run, or undefined for a fault of the program. */
export function problemOf(error: unknown, { problem, overdue, secrets }: Facts): MirrorProblem | undefined {
  if (error instanceof MirrorProblem) return error
  if (problem instanceof MirrorProblem) return problem
  if (isDiskFull(error)) return new MirrorProblem('disk_full', 'the disk of this appliance is full')
  if (overdue !== null) return new MirrorProblem('timeout', `it took longer than ${overdue} s (imports.timeout)`)
  if (problem instanceof RefusedTarget) {
    const text = `mirrors may not reach the address ${problem.address}: an administrator can list it in hooks.allow`
    return new MirrorProblem('address_refused', text)
  }
  if (problem instanceof ImportTooLarge) return new MirrorProblem('too_large', problem.message)
  if (error instanceof SourceFailure) return new MirrorProblem('lfs_failed', clean(error.message, secrets))
  if (error instanceof TooManyObjects) return new MirrorProblem('too_many_objects', error.message)
  if (error instanceof TooLarge) return new MirrorProblem('too_large', error.message)
  if (problem)
    return new MirrorProblem('unreachable', `the server cannot be reached: ${clean(problem.message, secrets)}`)
  return error instanceof GitFailure ? problemOfGit(error, secrets) : undefined
}

/** What git says about the answers of servers. */
const WORDS: readonly (readonly [words: RegExp, code: ProblemCode])[] = [
  [
    /Authentication failed|could not read (?:Username|Password)|returned error: 40[13]|Permission denied/i,
    'login_refused'
  ],
  [/not found|returned error: 404|does not exist|does not appear to be a git repository/i, 'not_found'],
  [/Operation too slow|timed out/i, 'timeout'],
  [/Could not resolve|Failed to connect|Connection (?:refused|reset)|unable to access|hung up/i, 'unreachable']
]

/** The output of git, without the secrets that it received. */
function problemOfGit({ stderr, message }: GitFailure, secrets: readonly string[]): MirrorProblem {
  const lines = stderr.split('\n').filter(line => /^(fatal|error|remote): /.test(line))
  const text = lines.length > 0 ? lines.join('; ') : message
  const code = WORDS.find(([words]) => words.test(text))?.[1] ?? 'git_failed'
  return new MirrorProblem(code, clean(text, secrets))
}

const LONGEST_TEXT = 500

/** A text of the server, on one line, without secrets. */
export function clean(text: string, secrets: readonly string[]): string {
  let line = text.replace(/\p{Cc}+/gu, ' ')
  for (const secret of secrets) if (secret !== '') line = line.replaceAll(secret, '[hidden]')
  return line.trim().slice(0, LONGEST_TEXT)
}
