import type { CheckResult } from '../doctor/check.js'
import { CHECK_NAMES } from '../doctor/names.js'
import { BaseCommand } from '../framework/base.js'
import { ExitCode } from '../framework/failures.js'
import { Flags } from '../oclif.js'

export default class Doctor extends BaseCommand {
  static override summary = 'Check the appliance and everything it needs, and show how to repair faults'
  static override description =
    'Without --fix, it only records what it has checked. If the private database is down, it is started for the checks, ' +
    'without changing its schema. With --fix, it repairs what can be repaired without a loss: permissions, missing folders, ' +
    'jobs, ref changes and locks held by dead processes, removals without a job, missing repositories that never had a ' +
    'commit, and commit graphs. The exit code is 1 if a fault remains. --only also runs what its checks need, such as the ' +
    'check of the database, but shows it only if it has a fault. The last lines say what to do next.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --all --json',
    '<%= config.bin %> doctor --fix',
    '<%= config.bin %> doctor --only jobs,queues',
    '<%= config.bin %> doctor --skip url --skip mail'
  ]
  static override flags = {
    fix: Flags.boolean({ description: 'repair what can be repaired without a loss' }),
    all: Flags.boolean({
      description: 'check every repository and file, not only what has changed and a sample, and read all objects'
    }),
    only: Flags.option({
      options: CHECK_NAMES,
      multiple: true,
      delimiter: ',',
      exclusive: ['skip'],
      description: 'run only these checks'
    })(),
    skip: Flags.option({
      options: CHECK_NAMES,
      multiple: true,
      delimiter: ',',
      description: 'leave out these checks'
    })()
  }

  async run(): Promise<{ ok: boolean; checks: CheckResult[]; next: string[] }> {
    const { flags } = await this.parse(Doctor)
    this.configure(flags)
    const [{ examine }, { progressLine }] = await Promise.all([
      import('../doctor/examine.js'),
      import('../framework/progress.js')
    ])
    const line = progressLine()
    const checks = await examine({
      fix: flags.fix ?? false,
      all: flags.all ?? false,
      ...(flags.only && { only: flags.only }),
      ...(flags.skip && { skip: flags.skip }),
      progress: line.show,
      onResult: result => {
        line.end()
        this.log(linesOf(result))
      }
    }).finally(line.end)
    const ok = checks.every(check => check.ok)
    if (!ok) process.exitCode = ExitCode.failed
    const next = [
      ...(ok ? [] : ['repair the faults above, and run gitstead doctor again']),
      ...checks.flatMap(check => check.next ?? [])
    ]
    if (next.length > 0) this.log(['', 'Next:', ...next.map(step => `- ${step}`)].join('\n'))
    else if (flags.only === undefined) this.log('\nNothing is left to do.')
    return { ok, checks, next }
  }
}

const INDENT = ' '.repeat(21)

function linesOf({ name, ok, skipped, found, details, remedy, mended }: CheckResult): string {
  const verdict = ok ? (skipped ? '-   ' : 'ok  ') : 'FAIL'
  return [
    `${verdict}  ${name.padEnd(13)}  ${found}`,
    ...details.map(detail => `${INDENT}${detail}`),
    ...(mended === null ? [] : [`${INDENT}repaired: ${mended}`]),
    ...(remedy === null ? [] : [`${INDENT}-> ${remedy}`])
  ].join('\n')
}
