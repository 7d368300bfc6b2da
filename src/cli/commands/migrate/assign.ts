import { assignConfirmed, assignPlaceholder, requirePlaceholder } from '../../../areas/migrate/runs/placeholders.js'
import { BadParameters } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class MigrateAssign extends BaseCommand {
  static override summary = 'Give the records of a placeholder to a user'
  static override description =
    'The user becomes the author of the issues, merge requests, comments and snippets of the placeholder, gets its memberships, and later runs know the user. The placeholder is deleted. With --confirmed, every placeholder goes to the user who has confirmed the address that the forge has verified; `migrate run` does that, too. A placeholder with personal projects needs them transferred first. With --json: {assigned}, a list of placeholder and user.'
  static override examples = [
    '<%= config.bin %> migrate assign ada-2 ada',
    '<%= config.bin %> migrate assign --confirmed'
  ]
  static override args = {
    placeholder: Args.string({ description: 'the username of the placeholder' }),
    user: Args.string({ description: 'the user: username, mail address or number' })
  }
  static override flags = {
    confirmed: Flags.boolean({ description: 'all placeholders whose person has confirmed the address' })
  }

  async run() {
    const { args, flags } = await this.parse(MigrateAssign)
    this.configure(flags)
    const { placeholder, user } = args
    const isPair = placeholder !== undefined && user !== undefined
    if (flags.confirmed ? placeholder !== undefined : !isPair) {
      const text = 'give a placeholder and a user, or only --confirmed'
      throw new BadParameters(text, text)
    }
    const assigned = await endedBySignals(
      signal =>
        withDatabase(async () => {
          if (!isPair) return assignConfirmed(commandOrigin(), signal)
          await assignPlaceholder(await requirePlaceholder(placeholder), user, commandOrigin())
          return [{ placeholder, user }]
        }),
      'the same command continues'
    )
    for (const each of assigned) this.log(`${each.user} has the records of ${each.placeholder}`)
    if (assigned.length === 0) this.log('nobody has confirmed the address of a placeholder')
    return { assigned }
  }
}
