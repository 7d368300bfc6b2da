import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumber } from '../../record-number.js'

export default class KeysRemove extends BaseCommand {
  static override summary = 'Remove an SSH key from its user'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the key in the form of `keys list`.'
  static override examples = [
    '<%= config.bin %> keys remove 17 --dry-run',
    '<%= config.bin %> keys remove 17 --yes --json'
  ]
  static override args = { id: recordNumber('number of the key, as `keys list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(KeysRemove)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { requireAnyKey }, { deleteKey }, { viewKeyInList }, { NotFound }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/keys.queries.js'),
        import('../../../areas/users/keys.js'),
        import('../../../areas/users/keys.view.js'),
        import('../../../errors.js')
      ])
    const key = await withDatabase(async () => {
      const found = await requireAnyKey(args.id)
      if (!flags['dry-run']) {
        await confirm(`to remove key ${found.id} (${JSON.stringify(found.title)} of ${found.username})`, how)
      }
      const owner = { id: found.user_id, username: found.username }
      if (!flags['dry-run'] && !(await deleteKey(owner, found.id, commandOrigin()))) throw new NotFound('Key')
      return viewKeyInList(found)
    })
    const what = `key ${key.id} (${JSON.stringify(key.title)} of ${key.username})`
    this.log(flags['dry-run'] ? `would remove ${what}` : `removed ${what}`)
    return flags['dry-run'] ? { would_delete: key } : { deleted: key }
  }
}
