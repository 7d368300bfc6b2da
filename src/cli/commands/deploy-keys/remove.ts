import type { ListedDeployKeyRow } from '../../../areas/ssh/deploy-keys.queries.js'
import { DestroyingCommand, type RecordDestruction } from '../../destroying-command.js'
import { recordNumbers } from '../../record-number.js'

export default class DeployKeysRemove extends DestroyingCommand<ListedDeployKeyRow> {
  static override summary = 'Remove a deploy key from all projects that have it'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the key in the form of `deploy-keys list`.'
  static override examples = [
    '<%= config.bin %> deploy-keys remove 5 --dry-run',
    '<%= config.bin %> deploy-keys remove 5 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the key, as `deploy-keys list` shows it') }

  protected async destruction(): Promise<RecordDestruction<ListedDeployKeyRow>> {
    const [{ requireWithProjects }, { deleteDeployKey }, { viewDeployKeyInList }, { NotFound }] = await Promise.all([
      import('../../../areas/ssh/deploy-keys.queries.js'),
      import('../../../areas/ssh/deploy-keys.js'),
      import('../../../areas/ssh/deploy-keys.view.js'),
      import('../../../errors.js')
    ])
    return {
      kind: 'deploy key',
      verb: 'remove',
      recordVerb: 'delete',
      find: requireWithProjects,
      nameOf: ({ id, title, projects }) =>
        `deploy key ${id} (${JSON.stringify(title)} of ${projects?.replaceAll('\n', ', ') ?? 'no project'})`,
      destroy: async (key, origin) => {
        if (!(await deleteDeployKey(key, origin))) throw new NotFound('Deploy Key')
        return key
      },
      view: viewDeployKeyInList
    }
  }
}
