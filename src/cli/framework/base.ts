// The base class of all commands: the flags --home and --json, and the exit code of each named error.
import { loadConfig, unknownVariables } from '../../config.js'
import { pathFlag } from '../input/path-flag.js'
import { Command, type Interfaces } from '../oclif.js'
import { codeOf, exitCodeOf, INTERRUPTED, plainMessage } from './failures.js'

/** Returns whether the command failed in the middle of a list; see list-all.ts. */
const interrupted = (error: object) => INTERRUPTED in error

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

  /** Loads the configuration; the flags of this command override it. Throws Misconfigured. */
  protected configure(flags: { home?: string; host?: string; port?: number }): void {
    loadConfig({ home: flags.home, host: flags.host, port: flags.port })
    if (this.warned) return
    this.warned = true
    for (const { name, meant } of unknownVariables()) {
      const remedy = meant ? `did you mean ${meant}?` : '`gitstead config show` lists all settings'
      process.stderr.write(`gitstead: warning: ${name} is not a setting: ${remedy}\n`)
    }
  }

  protected override async catch(error: Error & { oclif?: { exit?: number }; exitCode?: number }): Promise<never> {
    if (error.oclif?.exit === 0) this.exit(0)
    const message = plainMessage(error)
    if (this.jsonEnabled() && !interrupted(error))
      process.stdout.write(`${JSON.stringify({ error: { code: codeOf(error), message } })}\n`)
    else process.stderr.write(`gitstead: ${message}\n`)
    return this.exit(this.exitCodeFor(error))
  }

  protected exitCodeFor(error: Error & { oclif?: { exit?: number } }): number {
    return exitCodeOf(error)
  }
}
