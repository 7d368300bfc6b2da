import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { pathFlag } from '../../path-flag.js'

export default class BackupDelete extends BaseCommand {
  static override summary = 'Delete backups, damaged ones as well'
  static override description =
    'Other backups stay complete, also those that share files with a deleted one. It needs no database, so it works on a ' +
    'full disk. With --json: {deleted}, or with --dry-run {would_delete}: [{id, path, bytes}].'
  static override strict = false
  static override examples = [
    '<%= config.bin %> backup delete 20261121T020000Z-3f9a --dry-run',
    '<%= config.bin %> backup delete 20261121T020000Z-3f9a 20261122T020000Z-1b2c --to /mnt/backups --yes'
  ]
  static override args = {
    backup: Args.string({
      required: true,
      description: 'the backup: its id, its folder, or latest; you can give several'
    })
  }
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' }),
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(BackupDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ deletable, deleteBackups }, { bytesText }] = await Promise.all([
      import('../../../areas/backup/store.js'),
      import('../../../lib/bytes.js')
    ])
    const found = [...new Set(argv.map(String))].map(name => deletable(name, flags.to))
    const named = found.map(({ id, bytes }) => `${id} (${bytes === null ? 'damaged' : bytesText(bytes)})`)
    if (flags['dry-run']) {
      for (const line of named) this.log(`would delete ${line}`)
      return { would_delete: found }
    }
    await confirm(named.map(line => `to delete ${line}`).join('\n'), how)
    deleteBackups(
      found.map(({ path }) => path),
      flags.to
    )
    for (const line of named) this.log(`deleted ${line}`)
    await this.note(found)
    return { deleted: found }
  }

  /** The audit comes last: a full disk, which stops the database, is a reason to delete backups. */
  private async note(found: readonly { id: string; path: string }[]): Promise<void> {
    const [{ withDatabase }, { commandOrigin }, { noteDeleted }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/backup/create.js')
    ])
    try {
      await withDatabase(() => noteDeleted(found, commandOrigin()))
    } catch (error) {
      this.logToStderr(`gitstead: the audit does not record this: ${(error as Error).message}`)
    }
  }
}
