import * as grants from '../../../../areas/people/credentials/oauth/grants.js'
import { findAuthorization } from '../../../../areas/people/credentials/oauth/grants.queries.js'
import { requireUser } from '../../../../areas/people/users/users.queries.js'
import { NotFound } from '../../../../errors.js'
import { BaseCommand } from '../../../framework/base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../../framework/confirm.js'
import { commandOrigin } from '../../../framework/origin.js'
import { withDatabase } from '../../../framework/with-database.js'
import { requireNumbers } from '../../../input/record-number.js'
import { Args } from '../../../oclif.js'

/** The argument that stands for tokens that were issued for a password, without an application. */
const NO_APPLICATION = 'password'

export default class OauthGrantsRevoke extends BaseCommand {
  static override summary = 'Revoke the access that a user has granted to an application'
  static override description =
    'All codes and tokens of the application for this user stop working at once; the user can grant access again. The exit code is 3 if the application has no access. With --json: {revoked}, or with --dry-run {would_revoke}: the grant as in `oauth grants list`.'
  static override examples = [
    '<%= config.bin %> oauth grants revoke ada 17 --yes',
    '<%= config.bin %> oauth grants revoke ada password --dry-run --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' }),
    application: Args.string({
      required: true,
      description: `the number of the application, or ${NO_APPLICATION} for tokens that were issued for a password, without an application`
    })
  }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { args, flags } = await this.parse(OauthGrantsRevoke)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    const [id = null] = args.application === NO_APPLICATION ? [] : requireNumbers([args.application])
    if (!flags['dry-run']) requireAnswer(how)
    return withDatabase(async () => {
      const user = await requireUser(args.user)
      const grant = await findAuthorization(user.id, id)
      const what = id === null ? 'tokens for the password' : `application ${id}`
      if (!grant) throw new NotFound(`Grant of user ${user.username} to ${what}`)
      const said = `the access of ${id === null ? what : `${what} (${JSON.stringify(grant.name)})`} to ${user.username}`
      if (flags['dry-run']) {
        this.log(`would revoke ${said}`)
        return { would_revoke: grant }
      }
      await confirm(`to revoke ${said}`, how)
      await grants.withdraw(user.id, id, commandOrigin())
      this.log(`revoked ${said}`)
      return { revoked: grant }
    })
  }
}
