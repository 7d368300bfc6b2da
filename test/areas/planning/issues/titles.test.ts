// The longest titles of records of planning: 255 characters; an emoji counts as one.
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

t.test('a title may have 255 emoji, but not 256', async t => {
  const project = await app.make.project({ snippets_enabled: true })
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}`
  const [longest, longer] = [255, 256].map(count => '😀'.repeat(count)) as [string, string]
  const snippet = { file_name: 'a', visibility_level: 0 }
  const cases: [path: string, body: (text: string) => object, error: string][] = [
    [`${path}/issues`, title => ({ title }), 'title'],
    [`${path}/issues`, labels => ({ title: 'x', labels }), 'labels'],
    [`${path}/milestones`, title => ({ title }), 'title'],
    [`${path}/snippets`, title => ({ ...snippet, title, code: 'x' }), 'title'],
    ['/snippets', title => ({ ...snippet, title, content: 'x' }), 'title'],
    [`${path}/labels`, text => ({ name: `${text.slice(2)}x`, color: '#fff', description: text }), 'description']
  ]
  for (const [url, body, error] of cases) {
    t.equal((await owner.post(url, body(longest))).statusCode, 201, `${url} ${error}`)
    const refused = await owner.post(url, body(longer))
    t.equal(refused.statusCode, 400)
    t.match(refused.json(), { message: { [error]: ['is too long (maximum is 255 characters)'] } })
  }
})
