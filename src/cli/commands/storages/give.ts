import { giveStorage } from '../../../areas/upkeep/machines/storages.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class StoragesGive extends BaseCommand {
  static override summary = 'Let another machine own a storage of repositories'
  static override description =
    'The owner settles the changes of branches that it has begun, and then gives the storage away; requests wait for that. A machine that does not reach the folder leaves the storage where it is. With --json: {storage}, as in `storages list`.'
  static override examples = [
    '<%= config.bin %> storages give fast git2',
    '<%= config.bin %> storages give fast 4f1c --json'
  ]
  static override args = {
    name: Args.string({ required: true, description: 'the name of the storage' }),
    machine: Args.string({ required: true, description: 'name or id of the machine that gets it' })
  }

  async run() {
    const { flags, args } = await this.parse(StoragesGive)
    this.configure(flags)
    const storage = await withDatabase(() => giveStorage(args.name, args.machine, commandOrigin()))
    this.log(
      `asked machine ${args.machine} to take the storage ${storage.name}: if it reaches the folder, storages list shows it there in some seconds`
    )
    return { storage }
  }
}
