import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class KeysRemove extends BaseCommand {
  static override summary = 'Remove an SSH key from its user'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the key in the form of `keys list`.'
  static override examples = [
    '<%= config.bin %> keys remove 17 --dry-run',
    '<%= config.bin %> keys remove 17 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the key, as `keys list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(KeysRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { requireAnyKey },
      { deleteKey },
      { viewKeyInList },
      { NotFound }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/users/keys.queries.js'),
      import('../../../areas/users/keys.js'),
      import('../../../areas/users/keys.view.js'),
      import('../../../errors.js')
    ])
    const nameOf = ({ id, title, username }: { id: number; title: string; username: string }) =>
      `key ${id} (${JSON.stringify(title)} of ${username})`
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('key', id, () => requireAnyKey(id)),
        loss: key => `to remove ${nameOf(key)}`,
        destroy: async key => {
          const owner = { id: key.user_id, username: key.username }
          if (!dryRun && !(await deleteKey(owner, key.id, commandOrigin()))) throw new NotFound('Key')
          this.log(`${dryRun ? 'would remove' : 'removed'} ${nameOf(key)}`)
          return dryRun ? { would_delete: viewKeyInList(key) } : { deleted: viewKeyInList(key) }
        }
      })
    )
  }
}
