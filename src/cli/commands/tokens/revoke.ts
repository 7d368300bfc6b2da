import { revokeToken } from '../../../areas/people/credentials/tokens.js'
import type { TokenRow } from '../../../areas/people/credentials/tokens.queries.js'
import { requireToken } from '../../../areas/people/credentials/tokens.queries.js'
import { viewToken } from '../../../areas/people/credentials/tokens.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class TokensRevoke extends DestroyingCommand<TokenRow> {
  static override summary = 'Revoke a personal access token, so that it stops working'
  static override description =
    'The token stays in the list. Revoking it again changes nothing. With --json: {revoked}, or with --dry-run {would_revoke}: the token as in `tokens list`.'
  static override examples = [
    '<%= config.bin %> tokens revoke 17 --dry-run',
    '<%= config.bin %> tokens revoke 17 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the token, as `tokens list` shows it') }

  protected override readonly destruction: RecordDestruction<TokenRow> = {
    kind: 'token',
    verb: 'revoke',
    find: requireToken,
    nameOf: ({ id, name, username }) => `token ${id} (${JSON.stringify(name)} of ${username})`,
    destroy: ({ id }, origin) => revokeToken(id, origin),
    view: viewToken
  }
}
