import { deletableInBucket, deleteFromBucket } from '../../../areas/upkeep/backup/bucket/keep.js'
import { noteDeleted } from '../../../areas/upkeep/backup/create.js'
import { deletable, deleteBackups } from '../../../areas/upkeep/backup/store.js'
import { NotFound } from '../../../errors.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand } from '../../framework/base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { pathFlag } from '../../input/path-flag.js'
import { Args } from '../../oclif.js'

const isInBucket = (path: string): boolean => path.startsWith('s3://')

/** A backup on the disk comes first. Throws NoSuch. */
async function find(name: string, to: string | undefined) {
  try {
    return deletable(name, to)
  } catch (error) {
    if (to !== undefined || !(error instanceof NotFound)) throw error
    return deletableInBucket(name)
  }
}

export default class BackupDelete extends BaseCommand {
  static override summary = 'Delete backups, including damaged ones'
  static override description =
    'Other backups stay complete, even if they share files with a deleted one. No database is needed, so it works on a full ' +
    'disk. A backup that does not exist does not stop the others. With --json: {deleted, failed}, or with --dry-run ' +
    '{would_delete, failed}: [{id, path, bytes}] and [{argument, error}].'
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
    const { done, failed } = await sortOut(argv.map(String), how.json, async name => find(name, flags.to))
    const found = done.map(({ result }) => result)
    const nameOf = ({ id, bytes }: (typeof found)[number]) => `${id} (${bytes === null ? 'damaged' : bytesText(bytes)})`
    if (flags['dry-run']) {
      for (const backup of found) this.log(`would delete ${nameOf(backup)}`)
      return { would_delete: found, failed }
    }
    if (found.length > 0) await confirm(found.map(backup => `to delete ${nameOf(backup)}`).join('\n'), how)
    const deleted: typeof found = []
    for (const backup of found.filter(({ path }) => !isInBucket(path))) {
      deleteBackups([backup.path], flags.to)
      this.log(`deleted ${nameOf(backup)}`)
      deleted.push(backup)
    }
    if (deleted.length > 0) await this.note(deleted)
    const kept = found.filter(({ path }) => isInBucket(path))
    if (kept.length > 0) {
      const ids = kept.map(({ id }) => id)
      await withDatabase(() => deleteFromBucket(ids, commandOrigin()))
      for (const backup of kept) this.log(`deleted ${nameOf(backup)}`)
    }
    return { deleted: [...deleted, ...kept], failed }
  }

  /** Writes the audit after the deletion, because the database may have stopped on a full disk. */
  private async note(found: readonly { id: string; path: string }[]): Promise<void> {
    try {
      await withDatabase(() => noteDeleted(found, commandOrigin()))
    } catch (error) {
      this.logToStderr(`gitstead: not recorded in the audit: ${(error as Error).message}`)
    }
  }
}
