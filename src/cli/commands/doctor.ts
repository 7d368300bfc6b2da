import { Flags } from '@oclif/core'
import { BaseCommand, ExitCode } from '../base.js'
import type { CheckResult } from '../doctor/check.js'

export default class Doctor extends BaseCommand {
  static override summary = 'Check everything that the appliance needs, and say what to do'
  static override description =
    'Exit code 1 while something is wrong. Without --fix it changes nothing; a private database that is down is run ' +
    'for the checks alone, as it is. With --fix it mends what can be mended without a loss: permissions, missing ' +
    'folders, what dead processes hold, empty repositories that are missing, commit graphs.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --all --json',
    '<%= config.bin %> doctor --fix'
  ]
  static override flags = {
    fix: Flags.boolean({ description: 'mend what can be mended without a loss' }),
    all: Flags.boolean({ description: 'look at every repository and file, not at a sample' })
  }

  async run(): Promise<{ ok: boolean; checks: CheckResult[] }> {
    const { flags } = await this.parse(Doctor)
    this.configure(flags)
    const { examine } = await import('../doctor/examine.js')
    const checks = await examine({
      fix: flags.fix ?? false,
      all: flags.all ?? false,
      onResult: result => this.log(linesOf(result))
    })
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
    ...(mended === null ? [] : [`${INDENT}mended: ${mended}`]),
    ...(remedy === null ? [] : [`${INDENT}-> ${remedy}`])
  ].join('\n')
}
