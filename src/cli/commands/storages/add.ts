import { resolve } from 'node:path'
import { addStorageAt } from '../../../areas/upkeep/machines/storages.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class StoragesAdd extends BaseCommand {
  static override summary = 'Add a storage of repositories in a folder that this machine reaches'
  static override description =
    'Makes the folder, if needed, and writes the file .storage into it: a machine that reads the same file there can own the storage. The server of this machine owns it a few seconds later. New projects use it when the setting `repository_storages` has its name. With --json: {storage}, as in `storages list`.'
  static override examples = [
    '<%= config.bin %> storages add fast --path /srv/fast',
    '<%= config.bin %> storages add archive --path /mnt/nfs/archive --json'
  ]
  static override args = { name: Args.string({ required: true, description: 'the name of the new storage' }) }
  static override flags = { path: Flags.string({ required: true, description: 'the folder of its repositories' }) }

  async run() {
    const { flags, args } = await this.parse(StoragesAdd)
    this.configure(flags)
    const storage = await withDatabase(() => addStorageAt(args.name, resolve(flags.path), commandOrigin()))
    this.log(`added the storage ${storage.name} in ${storage.path}`)
    return { storage }
  }
}
