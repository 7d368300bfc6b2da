import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class DeployKeysRemove extends BaseCommand {
  static override summary = 'Remove a deploy key from all projects that have it'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the key in the form of `deploy-keys list`.'
  static override examples = [
    '<%= config.bin %> deploy-keys remove 5 --dry-run',
    '<%= config.bin %> deploy-keys remove 5 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the key, as `deploy-keys list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(DeployKeysRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { requireWithProjects },
      { deleteDeployKey },
      { viewDeployKeyInList },
      { NotFound }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/ssh/deploy-keys.queries.js'),
      import('../../../areas/ssh/deploy-keys.js'),
      import('../../../areas/ssh/deploy-keys.view.js'),
      import('../../../errors.js')
    ])
    const nameOf = ({ id, title, projects }: { id: number; title: string; projects: string | null }) =>
      `deploy key ${id} (${JSON.stringify(title)} of ${projects?.replaceAll('\n', ', ') ?? 'no project'})`
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('deploy key', id, () => requireWithProjects(id)),
        loss: key => `to remove ${nameOf(key)}`,
        destroy: async key => {
          if (!dryRun && !(await deleteDeployKey(key, commandOrigin()))) throw new NotFound('Deploy Key')
          this.log(`${dryRun ? 'would remove' : 'removed'} ${nameOf(key)}`)
          return dryRun ? { would_delete: viewDeployKeyInList(key) } : { deleted: viewDeployKeyInList(key) }
        }
      })
    )
  }
}
