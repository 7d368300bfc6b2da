import { requireScimToken, revokeScimToken, type ScimToken } from '../../../../areas/people/scim/scim-tokens.js'
import { viewScimToken } from '../../../../areas/people/scim/scim-tokens.record.js'
import { DestroyingCommand, type RecordDestruction } from '../../../framework/destroying-command.js'
import { recordNumbers } from '../../../input/record-number.js'

export default class ScimTokensRevoke extends DestroyingCommand<ScimToken> {
  static override summary = 'Revoke the token of a directory, so that it stops working'
  static override description =
    'The accounts and groups stay as they are. Revoking it again changes nothing. With --json: {revoked}, or with --dry-run {would_revoke}: the token as in `scim tokens list`.'
  static override examples = [
    '<%= config.bin %> scim tokens revoke 2 --dry-run',
    '<%= config.bin %> scim tokens revoke 2 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the token, as `scim tokens list` shows it') }

  protected override readonly destruction: RecordDestruction<ScimToken> = {
    kind: 'SCIM token',
    verb: 'revoke',
    find: requireScimToken,
    nameOf: ({ id, name }) => `SCIM token ${id} (${JSON.stringify(name)})`,
    destroy: ({ id }, origin) => revokeScimToken(id, origin),
    view: viewScimToken
  }
}
