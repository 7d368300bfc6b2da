import { BaseCommand } from '../base.js'

export default class Doctor extends BaseCommand {
  static override summary = 'Check everything that the appliance needs, and say what to do'
  static override description = 'Exit code 1 when a check fails. Changes nothing.'
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --json']

  async run() {
    const { flags } = await this.parse(Doctor)
    this.configure(flags)
    const { examine } = await import('../examine.js')
    const checks = await examine()
    for (const { name, ok, found, remedy } of checks) {
      this.log(
        `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(12)}  ${found}${remedy ? `\n                    -> ${remedy}` : ''}`
      )
    }
    if (checks.some(({ ok }) => !ok)) process.exitCode = 1
    return { ok: checks.every(({ ok }) => ok), checks }
  }
}
