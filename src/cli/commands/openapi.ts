import { BaseCommand } from '../base.js'

export default class OpenApi extends BaseCommand {
  static override summary = 'Print the OpenAPI document of the REST API'
  static override enableJsonFlag = false
  static override examples = [
    '<%= config.bin %> openapi > openapi.json',
    "<%= config.bin %> openapi | jq -r '.paths | keys[]'"
  ]

  async run(): Promise<void> {
    const { flags } = await this.parse(OpenApi)
    this.configure(flags)
    const { buildApp } = await import('../../server/app.js')
    const app = await buildApp()
    await app.ready()
    process.stdout.write(`${JSON.stringify(app.swagger(), null, 2)}\n`)
    await app.close()
  }
}
