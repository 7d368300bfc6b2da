import { requireSource } from '../../../areas/people/members/sources.js'
import type { InvitationRow } from '../../../areas/reach/accounts/invitations/invitations.queries.js'
import { listInvitations } from '../../../areas/reach/accounts/invitations/invitations.queries.js'
import { levelName } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { type Column, table } from '../../output/table.js'
import { viewInvitation } from '../../topics/invitations.js'
import { SOURCE } from '../../topics/member-terms.js'

const COLUMNS: readonly Column<InvitationRow>[] = [
  ['ADDRESS', one => one.address],
  ['LEVEL', one => levelName(one.access_level)],
  ['UNTIL', one => one.expires_at],
  ['BY', one => one.by_name],
  ['SENT', one => one.created_at]
]

export default class InvitationsList extends BaseCommand {
  static override summary = 'List the pending invitations of a project or group, newest first'
  static override description =
    'At most 100 can be pending. With --json: {invitations: [{id, address, level, expires_at, by, created_at}]}.'
  static override examples = [
    '<%= config.bin %> invitations list team',
    '<%= config.bin %> invitations list ada/engine --json'
  ]
  static override args = {
    of: Args.string({ required: true, description: SOURCE })
  }

  async run() {
    const { args, flags } = await this.parse(InvitationsList)
    this.configure(flags)
    const found = await withDatabase(async () => listInvitations(await requireSource(args.of)))
    this.log(table(found, COLUMNS))
    return { invitations: found.map(viewInvitation) }
  }
}
