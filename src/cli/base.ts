// The base of all commands: the flags --home and --json, and the exit code of each named failure.
import { Command, type Interfaces } from '@oclif/core'
import { loadConfig, unknownVariables } from '../config.js'
import * as errors from '../errors.js'
import { pathFlag } from './path-flag.js'

/** 0 ok, 1 failed, 2 usage, 3 not found, 4 exists or conflict, 5 unavailable, 6 running already. */
export const ExitCode = { failed: 1, usage: 2, notFound: 3, conflict: 4, unavailable: 5, running: 6 } as const

export type FlagsOf<T extends typeof Command> = Interfaces.InferredFlags<T['flags'] & (typeof BaseCommand)['baseFlags']>

export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true
  static override baseFlags = {
    home: pathFlag({
      description: 'the folder where the appliance keeps all its files',
      env: 'GITSTEAD_HOME',
      helpGroup: 'GLOBAL'
    })
  }

  private warned = false

  /** Loads the configuration; the flags of this command win over it. Throws Misconfigured. */
  protected configure(flags: { home?: string; host?: string; port?: number }): void {
    loadConfig({ home: flags.home, host: flags.host, port: flags.port })
    if (this.warned) return
    this.warned = true
    for (const { name, meant } of unknownVariables()) {
      const remedy = meant ? `did you mean ${meant}?` : '`gitstead config show` lists all'
      process.stderr.write(`gitstead: warning: ${name} names no setting: ${remedy}\n`)
    }
  }

  protected override async catch(error: Error & { oclif?: { exit?: number }; exitCode?: number }): Promise<never> {
    if (error.oclif?.exit === 0) this.exit(0)
    const message = plainMessage(error)
    if (this.jsonEnabled()) process.stdout.write(`${JSON.stringify({ error: { code: codeOf(error), message } })}\n`)
    else process.stderr.write(`gitstead: ${message}\n`)
    return this.exit(exitCodeOf(error))
  }
}

function plainMessage(error: Error): string {
  // `message` is made for the API, such as "400 (Bad request) ...". `error` is the plain text.
  const failure = error instanceof errors.BadParameters ? error.error : error.message
  const text = error instanceof errors.Failure ? failure.replace(/^4\d\d /, '') : error.message
  // oclif spreads its messages over several lines and ends them with a hint to the help.
  return text
    .replace(/\s*See more help with --help\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The names of the exit codes, in the answers of --json. */
const CODES: { readonly [exitCode: number]: string } = {
  [ExitCode.failed]: 'failed',
  [ExitCode.usage]: 'usage',
  [ExitCode.notFound]: 'not_found',
  [ExitCode.conflict]: 'conflict',
  [ExitCode.unavailable]: 'unavailable',
  [ExitCode.running]: 'running'
}
const codeOf = (error: Error) => CODES[exitCodeOf(error)] ?? 'failed'

function exitCodeOf(error: Error & { oclif?: { exit?: number } }): number {
  if (error instanceof errors.NotFound || error instanceof errors.NothingThere || error instanceof errors.NoHome)
    return ExitCode.notFound
  if (error instanceof errors.Conflict || error instanceof errors.Taken) return ExitCode.conflict
  if (error instanceof errors.Unavailable) return ExitCode.unavailable
  if (error instanceof errors.AlreadyRunning) return ExitCode.running
  if (error instanceof errors.Invalid || error instanceof errors.BadParameters) return ExitCode.usage
  if (error instanceof errors.Failure) return ExitCode.failed
  return error.oclif?.exit === 2 ? ExitCode.usage : ExitCode.failed
}
