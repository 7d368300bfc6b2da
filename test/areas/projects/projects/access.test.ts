import { testAccess } from '../../../access/matrix.js'
import { access as projects } from './projects.access.js'

testAccess([projects])
