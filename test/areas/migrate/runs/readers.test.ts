import { READERS } from '../../../../src/areas/migrate/runs/readers.js'
import t from '../../../helpers/tap.js'

t.test('the API of every forge is below the URL that a person enters, and requests carry the token', async t => {
  for (const [kind, load] of Object.entries(READERS)) {
    const reader = await load()
    const base = reader.base(new URL('https://git.example.com/forge'))
    t.match(base.href, /\/$/, kind)
    t.ok(base.host.endsWith('git.example.com'), kind)
    t.match(JSON.stringify(reader.headers('sesame')), /sesame/, kind)
    t.ok(reader.title, kind)
  }
})
