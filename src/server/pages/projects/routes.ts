// The pages of one project as a whole.
import type { FastifyPluginAsync } from 'fastify'
import { projectActionPages } from './actions.js'
import { activityPages } from './activity.js'
import { projectHomePage } from './home.js'
import { personalSnippetPages } from './personal-snippets.js'
import { snippetPages } from './snippets.js'

export const projectPages: FastifyPluginAsync = async app => {
  await app.register(projectHomePage)
  await app.register(projectActionPages)
  await app.register(activityPages)
  await app.register(snippetPages)
  await app.register(personalSnippetPages)
}
