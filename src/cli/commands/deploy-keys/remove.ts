import { deleteDeployKey } from '../../../areas/projects/ssh/deploy-keys.js'
import type { ListedDeployKeyRow } from '../../../areas/projects/ssh/deploy-keys.queries.js'
import { requireWithProjects } from '../../../areas/projects/ssh/deploy-keys.queries.js'
import { viewDeployKeyInList } from '../../../areas/projects/ssh/deploy-keys.view.js'
import { NotFound } from '../../../errors.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class DeployKeysRemove extends DestroyingCommand<ListedDeployKeyRow> {
  static override summary = 'Remove a deploy key from all projects that have it'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the key as in `deploy-keys list`.'
  static override examples = [
    '<%= config.bin %> deploy-keys remove 5 --dry-run',
    '<%= config.bin %> deploy-keys remove 5 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the key, as `deploy-keys list` shows it') }

  protected override readonly destruction: RecordDestruction<ListedDeployKeyRow> = {
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
