import * as rules from '../../../areas/ci/builds/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'

export default class BuildsCancel extends BaseCommand {
  static override summary = 'Stop running builds and cancel waiting builds'
  static override description =
    'The built-in runner ends a running build at once, with all its processes. Finished builds do not change. The exit code is 3 if a build does not exist; the others are canceled. With --json: {canceled, unchanged, failed}, or with --dry-run {would_cancel, failed}: the numbers of the builds; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> builds cancel 4711 4712',
    '<%= config.bin %> builds cancel 4711 --dry-run --json'
  ]
  static override args = { build: recordNumbers('number of a build') }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'show which builds would be canceled, and change nothing' })
  }

  async run() {
    const { flags, argv } = await this.parse(BuildsCancel)
    this.configure(flags)
    const change = flags['dry-run']
      ? (id: number) => rules.cancelableBuilds([id])
      : (id: number) => rules.cancelBuilds([id], commandOrigin())
    const { done, failed } = await withDatabase(() =>
      sortOut(requireNumbers(argv), this.jsonEnabled(), id => orNotFound('build', id, () => change(id)))
    )
    const canceled = done.flatMap(({ result }) => result)
    if (flags['dry-run']) {
      this.log(`would cancel ${canceled.length}${listed(canceled)}`)
      return { would_cancel: canceled, failed }
    }
    const unchanged = done.flatMap(({ argument, result }) => (result.length === 0 ? [argument] : []))
    this.log(`canceled ${canceled.length}${listed(canceled)}`)
    if (unchanged.length > 0) this.log(`already finished: ${unchanged.join(' ')}`)
    return { canceled, unchanged, failed }
  }
}

const listed = (ids: readonly number[]) => (ids.length > 0 ? `: ${ids.join(' ')}` : '')
