import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class TokensRevoke extends BaseCommand {
  static override summary = 'Revoke a personal access token: it stops working'
  static override description =
    'The record of the token stays in the list. A second revocation changes nothing. With --json: {revoked}, or with --dry-run {would_revoke}: the token in the form of `tokens list`.'
  static override examples = [
    '<%= config.bin %> tokens revoke 17 --dry-run',
    '<%= config.bin %> tokens revoke 17 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the token, as `tokens list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(TokensRevoke)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { requireToken },
      { revokeToken },
      { viewToken }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/credentials/tokens.queries.js'),
      import('../../../areas/credentials/tokens.js'),
      import('../../../areas/credentials/tokens.view.js')
    ])
    const nameOf = ({ id, name, username }: { id: number; name: string; username: string }) =>
      `token ${id} (${JSON.stringify(name)} of ${username})`
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('token', id, () => requireToken(id)),
        loss: token => `to revoke ${nameOf(token)}`,
        destroy: async token => {
          const found = dryRun ? token : await revokeToken(token.id, commandOrigin())
          this.log(`${dryRun ? 'would revoke' : 'revoked'} ${nameOf(found)}`)
          return dryRun ? { would_revoke: viewToken(found) } : { revoked: viewToken(found) }
        }
      })
    )
  }
}
