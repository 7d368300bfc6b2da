import * as keys from '../../../areas/projects/ssh/deploy-keys.js'
import { viewDeployKey } from '../../../areas/projects/ssh/deploy-keys.view.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { readText } from '../../input/read-text.js'
import { Flags } from '../../oclif.js'

export default class DeployKeysAdd extends BaseCommand {
  static override summary = 'Add a deploy key to a project, from standard input or a file'
  static override description =
    'A key that the project already has does not change; a key of another project is enabled, with its existing rights. With --public instead of --project, the masters of any project can enable the key. With --json: the key as the API shows it.'
  static override examples = [
    '<%= config.bin %> deploy-keys add --project ada/engine --title server < id_ed25519.pub',
    '<%= config.bin %> deploy-keys add --public --title mirror --file mirror.pub --json'
  ]
  static override flags = {
    project: Flags.string({
      description: 'the project: NAMESPACE/PROJECT or number',
      exactlyOne: ['project', 'public']
    }),
    public: Flags.boolean({ description: 'allow the masters of any project to enable the key' }),
    title: Flags.string({ required: true, description: 'a name for the key' }),
    push: Flags.boolean({ description: 'allow the key to push' }),
    file: Flags.file({ description: 'read the key from a file' })
  }

  async run() {
    const { flags } = await this.parse(DeployKeysAdd)
    this.configure(flags)
    const body = { title: flags.title, key: await readText('key', flags.file), can_push: flags.push === true }
    const key = await withDatabase(async () =>
      flags.project === undefined
        ? keys.addPublicKey(body, commandOrigin())
        : keys.addDeployKey(await requireNamedProject(flags.project), body, commandOrigin())
    )
    const rights = key.can_push ? 'reads and pushes' : 'reads'
    this.log(`deploy key ${key.id} of ${flags.project ?? 'all projects'} ${rights} (SHA256:${key.fingerprint})`)
    return viewDeployKey(key)
  }
}
