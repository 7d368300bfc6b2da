import { assignConfirmed, assignPlaceholder, requirePlaceholder } from '../../../areas/migrate/runs/placeholders.js'
import { BadParameters } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { refusedLines } from '../../topics/migrations.js'

export default class MigrateAssign extends BaseCommand {
  static override summary = 'Give the records of a placeholder to a user'
  static override description =
    'The user becomes the author of the issues, merge requests, comments and snippets of the placeholder, gets its memberships and personal projects, and later runs know the user. The placeholder is deleted. With --confirmed, every placeholder goes to the user who has confirmed the address that the forge has verified; `migrate run` does that, too. A personal project whose path or name a project of the user has already stands in the way: rename, transfer or delete that one first. The exit code is 1 if --confirmed finds somebody who cannot get the records. With --json: {assigned, refused}, lists of placeholder and user, and for refused ones the error.'
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
    const { assigned, refused } = await endedBySignals(
      signal =>
        withDatabase(async () => {
          if (!isPair) return assignConfirmed(commandOrigin(), signal)
          await assignPlaceholder(await requirePlaceholder(placeholder), user, commandOrigin())
          return { assigned: [{ placeholder, user }], refused: [] }
        }),
      'the same command continues'
    )
    for (const each of assigned) this.log(`${each.user} has the records of ${each.placeholder}`)
    for (const line of refusedLines(refused)) this.log(line)
    if (refused.length > 0) process.exitCode = 1
    if (assigned.length + refused.length === 0) this.log('nobody has confirmed the address of a placeholder')
    return { assigned, refused }
  }
}
