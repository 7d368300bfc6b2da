import type { CheckResult } from '../doctor/check.js'
import { BaseCommand } from '../framework/base.js'
import { ExitCode } from '../framework/failures.js'
import { Flags } from '../oclif.js'

export default class Doctor extends BaseCommand {
  static override summary = 'Check everything that the appliance needs, and say how to repair each fault'
  static override description =
    'Without --fix it changes nothing but its notes of what it has looked at; if the private database is down, it runs during the checks, without a change of ' +
    'its schema. With --fix it repairs what can be repaired without a loss: permissions, missing folders, jobs, ref ' +
    'changes and locks that dead processes hold, removals without a job, missing repositories that never had a commit, ' +
    'and commit graphs. Exit code 1 while something is wrong.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --all --json',
    '<%= config.bin %> doctor --fix'
  ]
  static override flags = {
    fix: Flags.boolean({ description: 'repair what can be repaired without a loss' }),
    all: Flags.boolean({
      description: 'look into every repository and file, not only at what has changed and at a sample'
    })
  }

  async run(): Promise<{ ok: boolean; checks: CheckResult[] }> {
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
      progress: line.show,
      onResult: result => {
        line.end()
        this.log(linesOf(result))
      }
    }).finally(line.end)
    const ok = checks.every(check => check.ok)
    if (!ok) process.exitCode = ExitCode.failed
    return { ok, checks }
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
