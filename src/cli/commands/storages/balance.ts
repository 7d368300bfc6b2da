import { balanceStorages } from '../../../areas/upkeep/machines/storages.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'

export default class StoragesBalance extends BaseCommand {
  static override summary = 'Give machines about the same number of storages'
  static override description =
    'Only machines that reach the folder of a storage take it. With --json: {moves}, each with storage and machine.'
  static override examples = ['<%= config.bin %> storages balance', '<%= config.bin %> storages balance --json']

  async run() {
    const { flags } = await this.parse(StoragesBalance)
    this.configure(flags)
    const moves = await withDatabase(() => balanceStorages(commandOrigin()))
    for (const { storage, machine } of moves) this.log(`asked machine ${machine} to take the storage ${storage}`)
    if (moves.length === 0) this.log('the machines own as many storages as each other')
    return { moves }
  }
}
