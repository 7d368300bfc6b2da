// The stylesheet and the script stay small, and no template has styles or scripts of its own, which the policy of pages forbids.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../../../src/config.js'
import { testApp } from '../../helpers/app.js'
import t from '../../helpers/tap.js'

const app = await testApp(t)
const folder = join(root, 'templates/web')
const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.eta'))

t.test('the stylesheet and the script have limits', async t => {
  for (const [name, most] of [
    ['gitstead.css', 20_000],
    ['gitstead.js', 15_000]
  ] as const) {
    const { statusCode, headers, rawPayload } = await app.fastify.inject(`/assets/${name}`)
    t.equal(statusCode, 200)
    t.match(headers['cache-control'], 'immutable')
    t.ok(rawPayload.length <= most, `${name} has ${rawPayload.length} bytes, ${gzipSync(rawPayload).length} compressed`)
  }
})

t.test('templates have no styles and no scripts of their own', async t => {
  t.ok(templates.length > 50)
  for (const name of templates) {
    const text = readFileSync(join(folder, name), 'utf8')
    t.notMatch(text, /\sstyle=|\son[a-z]+="|<style|javascript:/, name)
    if (name !== 'layout.eta') t.notMatch(text, /<script/, name)
  }
})
