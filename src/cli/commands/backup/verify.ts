import { damagedBackups, findBackup } from '../../../areas/upkeep/backup/store.js'
import { verifyBackup } from '../../../areas/upkeep/backup/verify.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { pathFlag } from '../../input/path-flag.js'
import { Args } from '../../oclif.js'

type Verified = Awaited<ReturnType<typeof import('../../../areas/upkeep/backup/verify.js').verifyBackup>>

export default class BackupVerify extends BaseCommand {
  static override summary = 'Restore a backup into a temporary home, and check the result'
  static override description =
    'Compares every file with its hash, loads the rows into a temporary database, and checks that every repository is ' +
    'complete and that its refs match the rows. It needs disk space for the whole backup. The exit code is 1 if something is ' +
    'wrong. `latest` is the newest backup that is not damaged; the command reports the damaged backups that it skips.'
  static override examples = [
    '<%= config.bin %> backup verify latest',
    '<%= config.bin %> backup verify /mnt/backups/20261121T020000Z-3f9a --secrets /root/gitstead-secrets.json --json'
  ]
  static override strict = false
  static override args = {
    backup: Args.string({
      required: true,
      description: 'the backup: its id, its folder, or latest; you can give several'
    })
  }
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' }),
    secrets: pathFlag({ description: 'the file with the secrets, if those of this home do not match the backup' }),
    in: pathFlag({ description: 'the folder for the temporary home (default: HOME/tmp)' })
  }

  async run() {
    const { flags, argv } = await this.parse(BackupVerify)
    this.configure(flags)
    const line = progressLine()
    const verify = async (name: string, signal: AbortSignal) => {
      signal.throwIfAborted()
      const backup = findBackup(name, flags.to)
      const passedOver = name === 'latest' ? damagedBackups(flags.to) : []
      const result = await verifyBackup(backup, {
        ...(flags.secrets === undefined ? {} : { secretsFile: flags.secrets }),
        ...(flags.in === undefined ? {} : { inside: flags.in }),
        signal,
        progress: (phase, done, total) => line.show(phase, done, total)
      }).finally(line.end)
      // Goes to stderr, because cron jobs often discard the output, and a damaged backup must not go unnoticed.
      for (const { id, problem } of passedOver) process.stderr.write(`gitstead: skipped ${id}: ${problem}\n`)
      return this.said(result, passedOver)
    }
    return endedBySignals(signal => doEach(argv.map(String), this.jsonEnabled(), name => verify(name, signal)))
  }

  private said(result: Verified, passedOver: readonly { readonly id: string }[]) {
    const { files, repositories, refs } = result.checked
    for (const problem of result.problems) this.log(`FAIL  ${problem}`)
    for (const note of result.notes) this.log(`note  ${note}`)
    this.log(
      `${result.backup.id}: ${result.ok ? 'ok' : 'not ok'}: ${counted(files, 'file')}, ${counted(repositories, 'repository', 'repositories')}, ${counted(refs, 'ref')}`
    )
    if (!result.ok) process.exitCode = 1
    return { ...result, passed_over: passedOver }
  }
}
