// The base class of commands that destroy records by their numbers, such as `keys remove 17 18 --yes`.
import type { Origin } from '../../access/actor.js'
import { orNotFound } from '../input/or-not-found.js'
import { requireNumbers } from '../input/record-number.js'
import { BaseCommand } from './base.js'
import { destroyingFlags, requireAnswer } from './confirm.js'
import { destroyEach } from './each.js'
import { commandOrigin } from './origin.js'
import { withDatabase } from './with-database.js'

const PAST = { delete: 'deleted', erase: 'erased', remove: 'removed', revoke: 'revoked' } as const

export interface RecordDestruction<Found> {
  /** The kind of record, for the message that no record has the number. */
  readonly kind: string
  /** What the command does, in the output for people. */
  readonly verb: keyof typeof PAST
  /** The same for --json, as in `would_delete` and `deleted`; the default is `verb`. */
  readonly recordVerb?: keyof typeof PAST
  /** Throws NotFound. */
  readonly find: (id: number) => Promise<Found>
  /** Describes the record to a person, by its number and its name or other properties. */
  readonly nameOf: (found: Found) => string
  /** Returns the record to show, which may have changed. Throws NotFound when it was deleted since `find`. */
  readonly destroy: (found: Found, origin: Origin) => Promise<Found>
  readonly view: (found: Found) => unknown
}

export abstract class DestroyingCommand<Found> extends BaseCommand {
  static override strict = false
  static override flags = { ...destroyingFlags }

  protected abstract readonly destruction: RecordDestruction<Found>

  async run(): Promise<unknown> {
    // By default, oclif reads only the class's own properties, not inherited ones.
    const { args, strict, enableJsonFlag } = this.ctor
    const { flags, baseFlags } = DestroyingCommand
    const parsed = await this.parse({ args, strict, enableJsonFlag, flags, baseFlags })
    this.configure(parsed.flags)
    const dryRun = parsed.flags['dry-run'] === true
    const how = { yes: parsed.flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const { kind, verb, recordVerb = verb, find, nameOf, destroy, view } = this.destruction
    return withDatabase(() =>
      destroyEach(requireNumbers(parsed.argv), {
        how,
        dryRun,
        find: id => orNotFound(kind, id, () => find(id)),
        loss: found => `to ${verb} ${nameOf(found)}`,
        destroy: async found => {
          if (dryRun) {
            this.log(`would ${verb} ${nameOf(found)}`)
            return { [`would_${recordVerb}`]: view(found) }
          }
          const left = await destroy(found, commandOrigin())
          this.log(`${PAST[verb]} ${nameOf(left)}`)
          return { [PAST[recordVerb]]: view(left) }
        }
      })
    )
  }
}
