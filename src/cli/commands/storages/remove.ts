import { removeStorage } from '../../../areas/upkeep/machines/storages.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class StoragesRemove extends BaseCommand {
  static override summary = 'Remove an empty storage of repositories from the list'
  static override description =
    'Fails with exit code 4 while something is in the storage, or while new projects go there: `storages drain --move` empties it, and the copies of moved projects leave it an hour later. The folder and its file `.storage` stay. A machine that has the storage in `repositories.storages` adds it again when it starts. With --json: {removed}: the storage as in `storages list`.'
  static override examples = ['<%= config.bin %> storages remove slow', '<%= config.bin %> storages remove slow --json']
  static override args = { name: Args.string({ required: true, description: 'the name of the storage' }) }

  async run() {
    const { flags, args } = await this.parse(StoragesRemove)
    this.configure(flags)
    const removed = await withDatabase(() => removeStorage(args.name, commandOrigin()))
    this.log(`removed the storage ${removed.name}; its folder ${removed.path} stays`)
    return { removed }
  }
}
