import { requireUser } from '../../../areas/people/users/users.queries.js'
import { explainNotifications } from '../../../areas/reach/notifications/explain.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { fields, table } from '../../output/table.js'

export default class NotificationsExplain extends BaseCommand {
  static override summary = 'Show which events send mail to a user, and why'
  static override description =
    'Shows the levels of the project, its group and the user, the level that applies, and for each event whether the user would get mail when another user causes it. With --json: user, target, settings, applied, member, reads, roles, address and events, each {event, mail, why}.'
  static override examples = [
    '<%= config.bin %> notifications explain ada ada/engine',
    "<%= config.bin %> notifications explain ada 'ada/engine#12'",
    "<%= config.bin %> notifications explain ada 'ada/engine!3' --json"
  ]
  static override args = {
    user: Args.string({ required: true, description: 'username, mail address or number of a user' }),
    target: Args.string({
      required: true,
      description: 'GROUP/PROJECT, GROUP/PROJECT#ISSUE or GROUP/PROJECT!MERGE_REQUEST'
    })
  }

  async run() {
    const { args, flags } = await this.parse(NotificationsExplain)
    this.configure(flags)
    return withDatabase(async () => {
      const found = await explainNotifications(await requireUser(args.user), args.target)
      const { settings, applied, roles } = found
      this.log(
        fields({
          user: found.user,
          target: found.target,
          'level of the project': settings.project,
          'level of the group': settings.group,
          'level of the user': settings.global,
          applies: `${applied.level} (${applied.from === 'global' ? 'user' : applied.from})`,
          ...(applied.level === 'custom' && { 'switched on': applied.events.join(', ') || 'none' }),
          member: found.member,
          'may read it': found.reads,
          roles: roles.join(', ') || 'none',
          address: found.address
        })
      )
      this.log(
        `\n${table(found.events, [
          ['EVENT', ({ event }) => event],
          ['MAIL', ({ mail }) => mail],
          ['WHY', ({ why }) => why]
        ])}`
      )
      return found
    })
  }
}
