import { deleteVariable } from '../../../areas/ci/variables/variables.js'
import * as queries from '../../../areas/ci/variables/variables.queries.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'

export default class VariablesUnset extends BaseCommand {
  static override summary = 'Remove variables from a project'
  static override description =
    'Builds that start later no longer get them. With --json: {removed}, or with --dry-run {would_remove}: the key.'
  static override examples = [
    '<%= config.bin %> variables unset ada/engine DEPLOY_KEY --dry-run',
    '<%= config.bin %> variables unset ada/engine DEPLOY_KEY PASSWORD --yes --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    key: Args.string({ required: true, description: 'the name of a variable; you can give several' })
  }
  static override flags = {
    ...destroyingFlags,
    scope: Flags.string({ description: 'the scope of the variables, when several have the key' })
  }

  async run() {
    const { argv, flags } = await this.parse(VariablesUnset)
    this.configure(flags)
    const [of = '', ...keys] = argv.map(String)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(async () => {
      const project = await requireNamedProject(of)
      return destroyEach(keys, {
        how,
        dryRun,
        find: async key => {
          const found = await queries.findVariable(project.id, key, flags.scope)
          if (!found) throw new NoSuch(`variable of ${of}`, key)
          return found.name
        },
        loss: key => `to remove variable ${key} of ${of}`,
        destroy: async key => {
          if (!dryRun) await deleteVariable(project, { key, scope: flags.scope }, commandOrigin())
          this.log(`${dryRun ? 'would remove' : 'removed'} variable ${key} of ${of}`)
          return dryRun ? { would_remove: key } : { removed: key }
        }
      })
    })
  }
}
