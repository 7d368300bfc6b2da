import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { pathFlag } from '../../path-flag.js'

export default class BackupVerify extends BaseCommand {
  static override summary = 'Restore a backup into a temporary home, and check the result'
  static override description =
    'It compares every file with its hash, loads the rows into a temporary database, and checks that every repository is ' +
    'complete and every ref is as the rows say. It needs room for the whole backup. Exit code 1 when something is wrong. ' +
    '`latest` is the newest backup that is not damaged; the command names the damaged ones that it passes over.'
  static override examples = [
    '<%= config.bin %> backup verify latest',
    '<%= config.bin %> backup verify /mnt/backups/20261121T020000Z-3f9a --secrets /root/gitstead-secrets.json --json'
  ]
  static override args = {
    backup: Args.string({ required: true, description: 'the backup: its id, its folder, or latest' })
  }
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' }),
    secrets: pathFlag({ description: 'the file of secrets, if those of this home do not fit the backup' }),
    in: pathFlag({ description: 'the folder for the temporary home (default: HOME/tmp)' })
  }

  async run() {
    const { flags, args } = await this.parse(BackupVerify)
    this.configure(flags)
    const [{ verifyBackup }, { findBackup, damagedBackups }, { progressLine }, { endedBySignals }] = await Promise.all([
      import('../../../areas/backup/verify.js'),
      import('../../../areas/backup/store.js'),
      import('../../progress.js'),
      import('../../signals.js')
    ])
    const backup = findBackup(args.backup, flags.to)
    const passedOver = args.backup === 'latest' ? damagedBackups(flags.to) : []
    const line = progressLine()
    const result = await endedBySignals(signal =>
      verifyBackup(backup, {
        ...(flags.secrets === undefined ? {} : { secretsFile: flags.secrets }),
        ...(flags.in === undefined ? {} : { inside: flags.in }),
        signal,
        progress: (phase, done, total) => line.show(phase, done, total)
      })
    ).finally(line.end)
    const { files, repositories, refs } = result.checked
    // Cron throws the output away, but nobody may believe that a damaged backup is well.
    for (const { id, problem } of passedOver) process.stderr.write(`gitstead: passed over ${id}: ${problem}\n`)
    for (const problem of result.problems) this.log(`FAIL  ${problem}`)
    for (const note of result.notes) this.log(`note  ${note}`)
    this.log(
      `${result.backup.id}: ${result.ok ? 'ok' : 'not ok'}: ${files} files, ${repositories} repositories, ${refs} refs`
    )
    if (!result.ok) process.exitCode = 1
    return { ...result, passed_over: passedOver }
  }
}
