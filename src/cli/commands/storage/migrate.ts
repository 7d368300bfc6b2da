import { moveBackups } from '../../../areas/upkeep/backup/bucket/keep.js'
import { type Moved, moveFiles } from '../../../areas/upkeep/file-moves/move-files.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand, type FlagsOf } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

const KINDS = ['artifacts', 'traces', 'uploads', 'lfs', 'caches', 'archives', 'records', 'backups'] as const
type Kind = (typeof KINDS)[number]
const PLACES = ['s3', 'folder'] as const

export default class StorageMigrate extends BaseCommand {
  static override summary = 'Copy all files of a kind to the bucket or back, while the appliance runs'
  static override description =
    'First set storage.KIND to the new place and restart: then new files go there, and reads look in both places. The command reads ' +
    'each copy back and compares it. A run that was interrupted continues when you start it again. Traces and artifacts move when ' +
    'their build has ended for ten minutes. The exit code is 1 if copies differ, 4 if new files do not go to the new place yet.'
  static override examples = [
    '<%= config.bin %> storage migrate artifacts --to s3 --dry-run',
    '<%= config.bin %> storage migrate artifacts --to s3 --delete-source',
    '<%= config.bin %> storage migrate uploads --to folder --concurrency 8 --json'
  ]
  static override args = {
    kind: Args.string({ required: true, options: [...KINDS], description: 'the kind of files' })
  }
  static override flags = {
    to: Flags.string({ required: true, options: [...PLACES], description: 'the new place' }),
    'delete-source': Flags.boolean({ description: 'delete each file from the old place after both were compared' }),
    concurrency: Flags.integer({ min: 1, max: 32, default: 4, description: 'how many files are copied at once' }),
    'dry-run': Flags.boolean({ description: 'count the files that would be copied, and change nothing' })
  }

  async run() {
    const { args, flags } = await this.parse(StorageMigrate)
    this.configure(flags)
    const kind = KINDS.find(each => each === args.kind) ?? 'artifacts'
    const to = flags.to === 's3' ? 's3' : 'folder'
    const moved = await this.move(kind, to, flags)
    const { copied, bytes, present, deleted, failed } = moved
    this.log(
      `${kind}: ${flags['dry-run'] ? 'would copy' : 'copied'} ${copied} (${bytesText(bytes)}) to ${to}, ` +
        `${present} were there already, deleted ${deleted} from the old place`
    )
    for (const name of failed) this.log(`FAILED ${name}: the copy differs`)
    if (failed.length > 0) process.exitCode = ExitCode.failed
    return { kind, to, dry_run: flags['dry-run'], ...moved }
  }
  private async move(kind: Kind, to: 's3' | 'folder', flags: FlagsOf<typeof StorageMigrate>) {
    const line = progressLine()
    const common = { to, deleteSource: flags['delete-source'], dryRun: flags['dry-run'] }
    const work = (signal: AbortSignal) => {
      if (kind === 'backups') {
        const progress = (done: number, total: number) => line.show(kind, done, total)
        return moveBackups({ ...common, signal, progress }, commandOrigin())
      }
      const progress = ({ copied, present, bytes }: Moved) =>
        line.show(`${kind}: ${copied + present} files`, 0, 0, bytesText(bytes))
      return moveFiles({ ...common, kind, signal, atOnce: flags.concurrency, progress }, commandOrigin())
    }
    return endedBySignals(signal => withDatabase(() => work(signal))).finally(line.end)
  }
}
