import { testAccess } from '../../../access/matrix.js'
import { access as environments } from './environments.access.js'
import { fillWithDeployment } from './make-environments.js'

testAccess([environments], fillWithDeployment)
