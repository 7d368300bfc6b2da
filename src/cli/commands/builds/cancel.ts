import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { numbersIn } from '../../record-number.js'

export default class BuildsCancel extends BaseCommand {
  static override summary = 'Stop builds that run, and cancel builds that wait'
  static override description =
    'The built-in runner ends a running build at once, with everything that it started. A build that has ended stays as it is. With --json: {canceled, unchanged}, or with --dry-run {would_cancel}: the numbers of the builds.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> builds cancel 4711 4712',
    '<%= config.bin %> builds cancel 4711 --dry-run --json'
  ]
  static override args = { build: Args.string({ description: 'number of a build; you can give several' }) }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'show which builds would be canceled, and change nothing' })
  }

  async run() {
    const { flags, argv } = await this.parse(BuildsCancel)
    this.configure(flags)
    const ids = numbersIn(argv.map(String))
    if (ids === undefined || ids.length === 0) this.error('give the numbers of builds', { exit: 2 })
    const [{ withDatabase }, { commandOrigin }, rules] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/builds/administer.js')
    ])
    if (flags['dry-run']) {
      const would = await withDatabase(() => rules.cancelableBuilds(ids))
      this.log(`would cancel ${would.length}${listed(would)}`)
      return { would_cancel: would }
    }
    const canceled = await withDatabase(() => rules.cancelBuilds(ids, commandOrigin()))
    const unchanged = ids.filter(id => !canceled.includes(id))
    this.log(`canceled ${canceled.length}${listed(canceled)}`)
    if (unchanged.length > 0) this.log(`ended before: ${unchanged.join(' ')}`)
    return { canceled, unchanged }
  }
}

const listed = (ids: readonly number[]) => (ids.length > 0 ? `: ${ids.join(' ')}` : '')
