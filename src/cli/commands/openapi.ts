import { BaseCommand } from '../framework/base.js'

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
    const { openApiDocument } = await import('../reference/openapi-document.js')
    process.stdout.write(`${JSON.stringify(await openApiDocument(), null, 2)}\n`)
  }
}
