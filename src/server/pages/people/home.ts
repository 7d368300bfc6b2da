// The home page: the to-dos, issues, merge requests and projects of its visitor. Strangers see the public projects, and a page
// for the operator while there are no users.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { applicationSettings } from '../../../areas/ground/settings/settings.queries.js'
import { readIssues } from '../../../areas/planning/issues/issue-readings.js'
import { viewIssue } from '../../../areas/planning/issues/issues.view.js'
import { firstOwnIssues } from '../../../areas/planning/issues/own-issues.queries.js'
import { newestOwnMergeRequests } from '../../../areas/planning/merge-requests/merge-request-lists.queries.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { hasUsers } from '../../../areas/reach/accounts/first-administrator.js'
import { readTodos } from '../../../areas/reach/todos/readings.js'
import { listTodos } from '../../../areas/reach/todos/todos.queries.js'
import { viewTodo } from '../../../areas/reach/todos/todos.view.js'
import { show } from '../page-routes.js'
import { activityIn } from './activity.js'
import { showProjects } from './explore.js'

const FEW = { page: 1, per_page: 10 }

export const homePage: FastifyPluginAsyncTypebox = async app => {
  app.get('/', { config: { public: true } }, async (request, reply) => {
    const { actor } = request
    if (!actor.user) {
      if (!(await hasUsers())) return show(request, reply, 'first-run', { title: 'Gitstead runs', small: true })
      const { home_page_url: home } = await applicationSettings()
      if (home) return reply.redirect(home)
      return showProjects(request, reply, { scope: 'visible', title: 'Public projects', query: {} })
    }
    const [todos, issues, projects, mergeRequests] = await Promise.all([
      listTodos(FEW, actor),
      firstOwnIssues({ ...FEW, scope: 'assigned', state: 'opened', order_by: 'updated_at' }, actor),
      listProjects('member', { ...FEW, order_by: 'last_activity_at' }, actor),
      newestOwnMergeRequests(FEW.per_page, actor)
    ])
    const projectIds = projects.items.map(({ id }) => id)
    const [readTodoList, readIssueList, events] = await Promise.all([
      readTodos(todos.items, actor),
      readIssues(issues, actor),
      activityIn(projectIds, actor, FEW.per_page)
    ])
    return show(request, reply, 'people/home', {
      title: 'Home',
      heading: `Hello ${actor.user.name}`,
      todos: readTodoList.map(viewTodo),
      todoCount: todos.total,
      issues: readIssueList.map(viewIssue),
      mergeRequests,
      projects,
      events
    })
  })
}
