import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumber } from '../../record-number.js'

export default class TokensRevoke extends BaseCommand {
  static override summary = 'Revoke a personal access token: it stops working'
  static override description =
    'The record of the token stays in the list. A second revocation changes nothing. With --json: {revoked}, or with --dry-run {would_revoke}: the token in the form of `tokens list`.'
  static override examples = [
    '<%= config.bin %> tokens revoke 17 --dry-run',
    '<%= config.bin %> tokens revoke 17 --yes --json'
  ]
  static override args = { id: recordNumber('number of the token, as `tokens list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(TokensRevoke)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { requireToken }, { revokeToken }, { viewToken }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/credentials/tokens.queries.js'),
      import('../../../areas/credentials/tokens.js'),
      import('../../../areas/credentials/tokens.view.js')
    ])
    const found = await withDatabase(async () => {
      const token = await requireToken(args.id)
      if (flags['dry-run']) return token
      await confirm(`to revoke token ${token.id} (${JSON.stringify(token.name)} of ${token.username})`, how)
      return revokeToken(args.id, commandOrigin())
    })
    const what = `token ${found.id} (${JSON.stringify(found.name)} of ${found.username})`
    this.log(flags['dry-run'] ? `would revoke ${what}` : `revoked ${what}`)
    return flags['dry-run'] ? { would_revoke: viewToken(found) } : { revoked: viewToken(found) }
  }
}
