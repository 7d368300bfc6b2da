import { allVariables } from '../../../areas/ci/variables/variables.queries.js'
import { viewVariable } from '../../../areas/ci/variables/variables.view.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class VariablesList extends BaseCommand {
  static override summary = 'List the variables for the builds of a project'
  static override description =
    'Values are hidden by default, because they may be secrets. With --json: {variables}, each with key, bytes, masked, protected and environment_scope, and with --values also value.'
  static override examples = [
    '<%= config.bin %> variables list ada/engine',
    '<%= config.bin %> variables list ada/engine --values --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }
  static override flags = { values: Flags.boolean({ description: 'also show the values' }) }

  async run() {
    const { args, flags } = await this.parse(VariablesList)
    this.configure(flags)
    const found = await withDatabase(async () => allVariables((await requireNamedProject(args.project)).id))
    const variables = found.map(viewVariable).map(({ key, value, ...settings }) => ({
      key,
      bytes: Buffer.byteLength(value),
      ...settings,
      ...(flags.values && { value })
    }))
    this.log(
      table(variables, [
        ['KEY', variable => variable.key],
        ['BYTES', variable => variable.bytes],
        ['SCOPE', variable => variable.environment_scope],
        ['MASKED', variable => (variable.masked ? 'yes' : 'no')],
        ['PROTECTED', variable => (variable.protected ? 'yes' : 'no')],
        ...(flags.values ? [['VALUE', ({ value = '' }: { value?: string }) => value] as const] : [])
      ])
    )
    return { variables }
  }
}
